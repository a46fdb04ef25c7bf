"""Held against what VPA's own code says of the same samples (`vpa_amounts.json`, made by `tests/bench/vpa_go/targets`
of its version 1.8.1); `make bench NAME=sizing` compares thousands anew."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.strategies.vpa_recommender import (
    LARGEST,
    LEAST_BYTES,
    LEAST_MILLIS,
    VpaContainer,
    VpaSample,
    amount,
    scaled,
)

CASES = json.loads(Path(__file__).with_name("vpa_amounts.json").read_text())


def taken(samples: list[list[Any]]) -> VpaContainer:
    found = VpaContainer()
    found.take(VpaSample(at, cores, used, bool(killed)) for at, cores, used, killed in samples)
    return found


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_same_samples_give_the_same_amounts(case: dict[str, Any]) -> None:
    found = taken(case["samples"])
    assert list(found.recommend("target")) == case["target"]
    assert list(found.recommend("lower")) == case["lower"]
    assert list(found.recommend("upper")) == case["upper"]


def test_a_kill_says_a_fifth_and_a_hundred_mebibytes_more() -> None:
    small, large = ([[0.0, 0.1, used, 1]] for used in (10e6, 1e9))
    assert taken(small).recommend().memory_bytes == LEAST_BYTES
    assert taken(large).recommend().memory_bytes >= 1.2e9 * 1.15


def test_a_kill_counts_by_what_was_requested_and_not_when_it_is_a_day_old() -> None:
    at = 10 * 86_400.0
    killed, late = taken([[at, 0.1, 1e9, 0]]), taken([[at, 0.1, 1e9, 0]])
    killed.kill(at, 2_000_000_000)
    assert killed.recommend().memory_bytes >= 2.4e9 * 1.15
    late.kill(at - 86_401, 2_000_000_000)
    assert late.recommend() == taken([[at, 0.1, 1e9, 0]]).recommend()


def test_samples_that_come_twice_or_late_count_once() -> None:
    once = [[100.0, 1.0, 1e9, 0], [160.0, 1.0, 1e9, 0]]
    again = [*once, [160.0, 9.0, 1e9, 0], [50.0, 9.0, 9e9, 0]]
    assert taken(again).recommend() == taken(once).recommend()


def test_containers_of_a_pod_share_its_least_amounts() -> None:
    assert VpaContainer().recommend() == (LEAST_MILLIS, LEAST_BYTES)
    assert VpaContainer().recommend(containers=2) == (LEAST_MILLIS // 2, LEAST_BYTES // 2)


def test_amounts_are_whole_and_have_a_largest() -> None:
    assert (amount(1.9), amount(-1.0), amount(math.inf)) == (1, 0, LARGEST)
    assert (scaled(0, math.inf), scaled(5, math.inf)) == (0, LARGEST)


@given(
    st.lists(
        st.tuples(st.floats(0, 4e9), st.floats(0, 1e6), st.floats(0, 1e15), st.booleans()),
        max_size=40,
    )
)
def test_bounds_lie_around_the_target(samples: list[tuple[float, float, float, bool]]) -> None:
    found = VpaContainer()
    found.take(VpaSample(*one) for one in sorted(samples))
    lower, target, upper = (found.recommend(side) for side in ("lower", "target", "upper"))
    for low, wanted, high in zip(lower, target, upper, strict=True):
        assert 0 < low <= wanted <= high <= LARGEST
