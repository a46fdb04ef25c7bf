"""How long, and how often: whoever asks for a profile, and wherever, meets the same limits."""

import dataclasses
import re

import pytest
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common.wire import (
    HIGHEST_PROFILE_HZ,
    LONGEST_PROFILE_S,
    USUAL_HIGHEST_PROFILE_HZ,
    USUAL_LONGEST_PROFILE_S,
)
from nemutator_controller.profiles.annotations import InvalidAnnotationError, parse
from nemutator_controller.profiles.api_requests import (
    DEFAULT_HZ,
    DEFAULT_S,
    SHORTEST_S,
    InvalidProfileRequestError,
    check_bounds,
)
from nemutator_ctl.profiles import command

from tests.house.tree import REPOSITORY

PAGE = REPOSITORY / "controller" / "nemutator_controller" / "console" / "static"

SECONDS = [
    (SHORTEST_S - 1, False),
    (SHORTEST_S, True),
    (LONGEST_PROFILE_S, True),
    (LONGEST_PROFILE_S + 1, False),
]
HZ = [(0, False), (1, True), (HIGHEST_PROFILE_HZ, True), (HIGHEST_PROFILE_HZ + 1, False)]


def api(seconds: float, hz: int) -> bool:
    try:
        check_bounds(seconds=seconds, hz=hz)
    except InvalidProfileRequestError:
        return False
    return True


def annotation(seconds: float, hz: int) -> bool:
    try:
        return (parse(f"cpu {seconds:.0f}s at={hz}hz").seconds, hz) == (seconds, hz)
    except InvalidAnnotationError:
        return False


def agent(seconds: float, hz: int) -> bool:
    """Whether a node can be set up to make it."""
    checks = {one.name: one.metadata["check"] for one in dataclasses.fields(ObserveSettings)}
    return checks["profile_seconds"](seconds) is None and checks["profile_hz"](hz) is None


@pytest.mark.parametrize(("seconds", "allowed"), SECONDS)
def test_seconds_have_the_same_limits_everywhere(seconds: float, allowed: bool) -> None:
    found = [ask(seconds, DEFAULT_HZ) for ask in (api, annotation, agent)]
    assert found == [allowed] * 3


@pytest.mark.parametrize(("hz", "allowed"), HZ)
def test_hz_have_the_same_limits_everywhere(hz: int, allowed: bool) -> None:
    assert [ask(DEFAULT_S, hz) for ask in (api, annotation, agent)] == [allowed] * 3


def test_a_node_that_nobody_has_set_up_makes_what_people_are_told_is_usual() -> None:
    usual = ObserveSettings()
    assert usual.profile_seconds == USUAL_LONGEST_PROFILE_S >= DEFAULT_S
    assert usual.profile_hz == USUAL_HIGHEST_PROFILE_HZ >= DEFAULT_HZ


def test_the_form_of_the_page_allows_what_the_api_does() -> None:
    field = re.search(r'<input name="seconds"[^>]*>', (PAGE / "index.html").read_text())
    assert field is not None
    limits = {name: float(value) for name, value in re.findall(r'(min|max)="(\d+)"', field[0])}
    assert limits == {"min": SHORTEST_S, "max": LONGEST_PROFILE_S}
    asked = re.findall(r"\bhz: (\d+)", (PAGE / "picker.js").read_text())
    assert asked == [str(DEFAULT_HZ)]


def test_the_command_line_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"({DEFAULT_S:.0f}; usually at most {USUAL_LONGEST_PROFILE_S:.0f})" in said
    assert f"({DEFAULT_HZ}; usually at most {USUAL_HIGHEST_PROFILE_HZ})" in said


def test_the_documentation_says_the_same() -> None:
    told = (REPOSITORY / "docs" / "profiles.md").read_text()
    most = (
        f"at most {USUAL_LONGEST_PROFILE_S:.0f} s, or raise its setting `observe.profile_seconds`"
    )
    assert f"{most} (to {LONGEST_PROFILE_S:.0f} at most)" in told
