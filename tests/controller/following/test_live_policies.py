from nemutator_controller.following.live_policies import (
    MOST_REMEMBERED,
    followed_by_what_runs,
    remembered_after,
)
from nemutator_controller.policies.snapshot import NO_POLICIES, Policies, snapshot_of

from tests.fakes.followed_pods import Json, live

FAULTY = live(team="a") | {"mode": "Later"}


def policies(**specs: Json) -> Policies:
    return snapshot_of(specs)


def test_live_policies_are_remembered_when_they_are_gone_and_others_are_not() -> None:
    known = policies(team=live(team="a"), once=live(team="b") | {"applyTo": "pod"})
    remembered = remembered_after({}, known, 5.0)
    assert remembered == {"team": 5.0}
    assert remembered_after(remembered, known, 6.0) == remembered
    assert remembered_after(remembered, NO_POLICIES, 7.0) == remembered
    assert followed_by_what_runs(remembered, NO_POLICIES) == {"team"}


def test_one_that_is_live_no_more_is_forgotten() -> None:
    known = policies(team=live(team="a") | {"applyTo": "pod"})
    remembered = remembered_after({"team": 1.0}, known, 2.0)
    assert remembered == {}
    assert followed_by_what_runs(remembered, known) == set()


def test_neither_a_previewed_nor_a_faulty_one_is_deleted() -> None:
    known = policies(team=live(team="a") | {"mode": "Preview"}, broken=FAULTY)
    remembered = remembered_after({"team": 1.0, "broken": 1.0}, known, 2.0)
    assert remembered == {"team": 1.0, "broken": 1.0}
    assert followed_by_what_runs(remembered, known) == set()


def test_the_last_good_form_of_a_faulty_one_is_followed() -> None:
    known = snapshot_of({"team": FAULTY}, policies(team=live(team="a")))
    assert followed_by_what_runs(remembered_after({}, known, 1.0), known) == {"team"}


def test_of_too_many_those_that_are_there_and_the_newest_are_remembered() -> None:
    before = {f"p{number}": float(number) for number in range(MOST_REMEMBERED)}
    remembered = remembered_after(before, policies(team=live(team="a")), 1.0)
    assert len(remembered) == MOST_REMEMBERED
    assert "team" in remembered
    assert "p0" not in remembered
    assert f"p{MOST_REMEMBERED - 1}" in remembered
