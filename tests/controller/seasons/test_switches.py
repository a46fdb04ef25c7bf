"""Policies are switched when their season begins and ends, and what was taken back stays so for that time."""

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.phases import Season
from nemutator_controller.seasons.records import PolicySwitch, SeasonedPolicy
from nemutator_controller.seasons.switches import Key, SwitchesAfter, in_words, switches_after

NOW = 1_000.0
BUSY = SeasonedPolicy(kind="MutationPolicy", name="busy", seasons=("peak", "surprise"))
KEY: Key = ("MutationPolicy", "busy")
SEASONS: list[Season] = ["off-peak", "pre-peak", "peak", "surprise", "flat", "unknown"]


def look(
    season: Season, before: dict[Key, PolicySwitch], *, is_forgotten: bool = False
) -> SwitchesAfter:
    def of(scope: Scope) -> Season:
        assert scope == CLUSTER
        return season

    return switches_after([BUSY], of, before, lambda _: is_forgotten, now=NOW)


def switch(*, in_force: bool, held: bool = False) -> PolicySwitch:
    return PolicySwitch(
        kind="MutationPolicy", name="busy", in_force=in_force, since=1.0, why="so", held=held
    )


def test_a_policy_begins_out_of_force_and_is_switched_by_its_season() -> None:
    first = look("off-peak", {})
    assert first.due == ()
    assert not first.kept[KEY].in_force
    assert first.kept[KEY].why == "the season of the cluster is off-peak"

    [due] = look("peak", dict(first.kept)).due
    assert (due.in_force, due.since, due.why) == (True, NOW, "the season of the cluster is peak")
    # Until it is journaled it is as it was.
    assert not look("peak", dict(first.kept)).kept[KEY].in_force


def test_between_two_of_its_seasons_nothing_is_switched() -> None:
    before = {KEY: switch(in_force=True)}
    assert look("surprise", before).kept == before
    assert look("surprise", before).due == ()


def test_a_season_that_cannot_be_told_is_not_its_season() -> None:
    [due] = look("unknown", {KEY: switch(in_force=True)}).due
    assert (due.in_force, due.why) == (False, "the season of the cluster cannot be told")


def test_what_was_taken_back_stays_until_its_season_is_over_or_it_is_forgotten() -> None:
    held = {KEY: switch(in_force=False, held=True)}
    assert look("peak", held).due == ()
    assert look("peak", held).kept == held

    over = look("off-peak", held)
    assert over.freed == (KEY,)
    assert not over.kept[KEY].held

    [due] = look("peak", held, is_forgotten=True).due
    assert due.in_force
    assert not due.held


def test_a_policy_that_is_gone_is_forgotten() -> None:
    found = switches_after(
        [], lambda _: "peak", {KEY: switch(in_force=True)}, lambda _: False, now=NOW
    )
    assert found.kept == {}
    assert found.due == ()


def test_whose_season_it_is_is_said() -> None:
    assert in_words(("shop", "Deployment", "web"), "flat") == "Deployment shop/web has no seasons"


@given(st.lists(st.sampled_from(SEASONS), max_size=30))
def test_it_is_in_force_exactly_in_its_seasons(seen: list[Season]) -> None:
    known: dict[Key, PolicySwitch] = {}
    for season in seen:
        after = look(season, known)
        known = dict(after.kept) | {one.key: one for one in after.due}
        assert known[KEY].in_force == (season in BUSY.seasons)
