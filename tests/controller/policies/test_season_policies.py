"""Brains are checked with their reasons, and several in force come to one behaviour."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.policies.model import PolicyError
from nemutator_controller.policies.season_policies import (
    Behaviour,
    behaviour_of,
    season_policy_of,
)

PEAK = {"season": ["peak"]}


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (None, "spec: "),
        ({}, "spec: "),
        ({"when": {}}, "spec.when: name at least one"),
        ({"when": {"season": ["busy"]}}, "spec.when.season"),
        (
            {"when": {"season": ["peak"], "windows": [{"from": "01:00", "to": "02:00"}]}},
            "spec.when.windows: a brain follows its season alone",
        ),
        ({"when": PEAK, "advice": {"cpuPercentile": 10}}, "spec.advice.cpuPercentile"),
        ({"when": PEAK, "evict": "Hold"}, "spec"),
        ({"when": PEAK, "aggressors": {"grade": 5}}, "spec.aggressors.grade"),
        ({"when": PEAK, "aggressors": {"mode": "Apply"}}, "spec.aggressors"),
        ({"when": PEAK, "oversell": {}}, "spec.oversell: name cpuPercent"),
        ({"when": PEAK, "oversell": {"cpuPercent": 99}}, "spec.oversell.cpuPercent"),
        ({"when": PEAK, "buffer": {}}, "spec.buffer: name one of"),
        ({"when": PEAK, "buffer": {"pods": 1, "forecastPercent": 5}}, "spec.buffer: name one of"),
        ({"when": PEAK, "buffer": {"pods": -1}}, "spec.buffer.pods"),
    ],
)
def test_each_fault_is_named(spec: Any, fault: str) -> None:
    with pytest.raises(PolicyError) as caught:
        season_policy_of("p", spec)
    assert caught.value.faults[0].startswith(fault)


def test_of_several_the_first_by_name_counts_and_whoever_holds_back_wins() -> None:
    brains = [
        season_policy_of("b", {"when": PEAK, "advice": {"cpuPercentile": 99}, "resizes": "Hold"}),
        season_policy_of("a", {"when": PEAK, "advice": {"cpuPercentile": 97}}),
        season_policy_of("c", {"when": PEAK, "evictions": "Hold"}),
    ]

    assert behaviour_of(brains, frozenset({"a", "b"})) == Behaviour(
        cpu_percentile=97.0, holds_resizes="b"
    )
    assert behaviour_of(brains, frozenset({"c"})).holds_evictions == "c"
    assert behaviour_of(brains, frozenset()) == Behaviour()


def test_who_says_how_to_place_first_by_name_counts() -> None:
    brains = [
        season_policy_of("a", {"when": PEAK}),
        season_policy_of("b", {"when": PEAK, "placement": "Spread"}),
        season_policy_of("c", {"when": PEAK, "placement": "Pack"}),
    ]

    both = behaviour_of(brains, frozenset({"a", "b", "c"}))
    assert (both.placement, both.packs_by) == ("Spread", "")
    night = behaviour_of(brains, frozenset({"a", "c"}))
    assert (night.placement, night.packs_by) == ("Pack", "c")
    assert behaviour_of(brains, frozenset({"a"})).placement == ""


def test_aggressors_are_named_by_the_first_and_evicted_only_where_it_says_so() -> None:
    brains = [
        season_policy_of("a", {"when": PEAK}),
        season_policy_of("b", {"when": PEAK, "aggressors": {"grade": 3}}),
        season_policy_of("c", {"when": PEAK, "aggressors": {"grade": 1, "mode": "Apply"}}),
    ]
    found = behaviour_of(brains, frozenset({"a", "b", "c"}))
    assert found.aggressors is not None
    assert (found.aggressors_by, found.aggressors.grade, found.aggressors.mode) == (
        "b",
        3,
        "Preview",
    )
    assert behaviour_of(brains, frozenset({"a"})).aggressors is None


def test_of_several_ceilings_the_lowest_counts() -> None:
    brains = [
        season_policy_of("a", {"when": PEAK, "oversell": {"cpuPercent": 300}}),
        season_policy_of(
            "b", {"when": PEAK, "oversell": {"cpuPercent": 200, "memoryPercent": 150}}
        ),
        season_policy_of("c", {"when": PEAK}),
    ]
    found = behaviour_of(brains, frozenset({"a", "b", "c"})).oversell
    assert found is not None
    assert (found.cpu_percent, found.memory_percent) == (200, 150)
    assert behaviour_of(brains, frozenset({"c"})).oversell is None


def test_a_reserve_is_opened_by_any_that_is_in_force() -> None:
    brains = [
        season_policy_of("a", {"when": PEAK}),
        season_policy_of("b", {"when": PEAK, "reserve": "Open"}),
    ]

    assert behaviour_of(brains, frozenset({"a", "b"})).opens_reserve == "b"
    assert behaviour_of(brains, frozenset({"a"})).opens_reserve == ""


def test_the_buffer_is_that_of_the_first_which_names_one() -> None:
    brains = [
        season_policy_of("a", {"when": PEAK}),
        season_policy_of("b", {"when": PEAK, "buffer": {"pods": 0}}),
        season_policy_of("c", {"when": PEAK, "buffer": {"forecastPercent": 100}}),
    ]

    both = behaviour_of(brains, frozenset({"a", "b", "c"}))
    assert (both.buffer_by, both.buffer) == ("b", brains[1].spec.buffer)
    assert behaviour_of(brains, frozenset({"a"})).buffer is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["when", "season", "advice", "x"]), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_whatever_is_applied_is_a_policy_or_a_fault(spec: Any) -> None:
    faults: tuple[str, ...] = ()
    seasons: tuple[str, ...] = ()
    try:
        seasons = season_policy_of("p", spec).spec.when.season
    except PolicyError as error:
        faults = error.faults
    assert bool(seasons) != bool(faults)
