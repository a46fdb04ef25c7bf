from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import ProfileOutcome
from nemutator_controller.profiles.records import (
    NOT_BEGUN_S,
    NOT_ENDED_S,
    NOT_TAKEN_S,
    EndReason,
    ProfileRecord,
    after,
    ended,
    overdue,
    taken,
)

from tests.fakes.profiles import NOW, POD, profile


def outcome(state: Literal["running", "done", "refused"], **more: object) -> ProfileOutcome:
    return replace(
        ProfileOutcome(id=profile().id, node="n1", state=state),
        **more,  # type: ignore[arg-type]
    )


DONE = outcome("done", recorded=90, lost={"full": 3}, pprof=b"xy", seconds=29.5, hz=99)


def given_all(*outcomes: ProfileOutcome) -> ProfileRecord:
    found = profile()
    for one in outcomes:
        found = after(found, one, now=NOW + 1) or found
    return found


def test_a_profile_runs_and_is_done_with_what_was_found() -> None:
    found = given_all(outcome("running"), DONE)
    assert (found.state, found.recorded, found.lost, found.bytes) == ("done", 90, {"full": 3}, 2)
    assert (found.seconds, found.ended_at) == (29.5, NOW + 1)


def test_a_refusal_has_a_reason_even_when_the_agent_gives_none() -> None:
    assert given_all(outcome("refused")).reason
    found = given_all(outcome("refused", reason="not Go", remedy="use 1.18"))
    assert (found.reason, found.remedy) == ("not Go", "use 1.18")


def test_what_was_given_up_may_still_end() -> None:
    lost = ended(profile(), "lost", EndReason("nobody", "ask again"), now=NOW)
    assert after(lost, outcome("running"), now=NOW + 1)
    done = after(lost, DONE, now=NOW + 1)
    assert done is not None
    assert (done.state, done.reason, done.remedy) == ("done", "", "")


outcomes = st.lists(st.sampled_from([outcome("running"), DONE, outcome("refused")]), max_size=8)


@given(outcomes)
def test_what_is_finished_never_goes_back(outcomes: list[ProfileOutcome]) -> None:
    found = profile()
    for one in outcomes:
        finished = found.state in ("done", "refused")
        changed = after(found, one, now=NOW)
        assert changed is None or not finished
        found = changed or found
    assert found == given_all() if not outcomes else found.state != "asked"


@given(outcomes)
def test_the_same_again_changes_nothing(outcomes: list[ProfileOutcome]) -> None:
    found = profile()
    for one in outcomes:
        found = after(found, one, now=NOW) or found
        assert after(found, one, now=NOW + 9) is None


@pytest.mark.parametrize(
    ("found", "late_s", "why"),
    [
        (profile(), NOT_TAKEN_S, None),
        (profile(), NOT_TAKEN_S + 1, "asked for work"),
        (taken(profile(), now=NOW), NOT_TAKEN_S + 1, None),
        (taken(profile(), now=NOW), NOT_BEGUN_S + 1, "never began"),
        (given_all(outcome("running")), 30 + NOT_ENDED_S, None),
        (given_all(outcome("running")), 30 + NOT_ENDED_S + 2, "has not reported since"),
        (given_all(DONE), 1e9, None),
    ],
)
def test_what_nobody_does_is_given_up_with_the_reason(
    found: ProfileRecord, late_s: float, why: str | None
) -> None:
    said = overdue(found, now=NOW + late_s)
    assert (said is None) == (why is None)
    assert why is None or (said and why in said.reason and said.remedy)


def test_an_agents_fast_clock_keeps_nothing_open_for_ever() -> None:
    found = given_all(outcome("running", started_at=NOW + 1e9))
    assert overdue(found, now=NOW + NOT_TAKEN_S + NOT_BEGUN_S + 30 + NOT_ENDED_S + 1)


def test_it_is_titled_by_what_people_call_it() -> None:
    assert profile().title == "pid 123 on n1"
    assert replace(profile(), program="shop").title == "shop (pid 123) on n1"
    assert replace(profile(), pod=POD).title == "shop/cart-1"


def test_the_moment_of_being_taken_is_the_first() -> None:
    assert taken(taken(profile(), now=NOW), now=NOW + 9).taken_at == NOW


def test_each_phase_of_a_running_profile_is_known_and_moves_nothing_else() -> None:
    begun = given_all(outcome("running", phase="preparing"))
    sampling = after(begun, outcome("running", phase="sampling"), now=NOW + 3)
    assert sampling is not None
    assert (sampling.phase, sampling.phase_at, sampling.left_s(NOW + 5)) == (
        "sampling",
        NOW + 3,
        28,
    )
    assert sampling.started_at == begun.started_at
    assert after(sampling, outcome("running", phase="sampling"), now=NOW + 4) is None
    later = after(sampling, outcome("running", phase="symbolising", recorded=70), now=NOW + 33)
    assert later is not None
    assert (later.recorded, later.left_s(NOW + 33)) == (70, None)
    assert given_all(outcome("running", phase="sampling"), DONE).phase == ""


def test_one_that_is_late_begins_anew_when_an_agent_takes_it_again() -> None:
    late = given_all(outcome("running"))
    again = taken(late, now=NOW + 100)
    assert (again.state, again.taken_at, again.started_at) == ("running", late.taken_at, NOW + 100)
