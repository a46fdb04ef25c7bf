"""On which servers a test runs, and what the end of the run says about it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

FAKE = pytest.param("fake", id="fake")
REAL = pytest.param("real", id="real", marks=pytest.mark.e2e)

FOLDER = "/".join(Path(__file__).parent.parts[-2:])
ALONE = "fake alone, "


def on_the_fake_alone(because: str) -> pytest.MarkDecorator:
    """For what a real server cannot be made to do; *because* stands in the test's name."""
    only = pytest.param("fake", id=ALONE + because)
    return pytest.mark.parametrize("variant", [only], indirect=True)


def summary(passed: Iterable[str]) -> str:
    """One line about the tests with these names; empty when none is of this suite."""
    cases = [name.partition("[")[2].rstrip("]") for name in passed if f"{FOLDER}/" in name]
    alone = sum(ALONE in case for case in cases)
    fake, real = (
        sum(ALONE not in case and which in case.split("-") for case in cases)
        for which in ("fake", "real")
    )
    if not alone and not fake and not real:
        return ""
    on_the_real_one = f"{real} tests" if real else "none (make e2e runs them)"
    return (
        f"contract of the Kubernetes API: on the fake server {fake} tests, and {alone} of what the"
        f" real one cannot be made to do; on the real server {on_the_real_one}"
    )
