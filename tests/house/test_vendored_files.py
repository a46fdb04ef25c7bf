"""What the page has of others is what was fetched, with its licence, and is all that is fetched."""

import hashlib
import re

import pytest

from scripts.sbom import VENDORED, vendored
from tests.house.tree import REPOSITORY

SUMS: dict[str, str] = {}
for line in (VENDORED / "SHA256SUMS").read_text().splitlines():
    found, called = line.split()
    SUMS[called] = found


def test_each_file_has_a_checksum_and_no_other_is_there() -> None:
    assert {path.name for path in VENDORED.iterdir()} == {*SUMS, "SHA256SUMS"}


@pytest.mark.parametrize("name", SUMS)
def test_a_vendored_file_is_as_it_was_fetched(name: str) -> None:
    assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == SUMS[name]


def test_it_is_the_version_that_the_lock_script_fetches() -> None:
    script = (REPOSITORY / "scripts/vendored").read_text()
    assert re.findall(r"^version=(.+)$", script, re.MULTILINE) == [vendored()["version"]]
    assert "scripts/vendored" in (REPOSITORY / "scripts/lock").read_text()


def test_its_licence_lets_it_be_shipped() -> None:
    assert (VENDORED / "uPlot.LICENSE").read_text().startswith("The MIT License")
