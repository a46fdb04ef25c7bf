from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common.admission_snapshots import MOST_TALKERS, MOST_TALKING
from nemutator_controller.hysteresis import DOWN_TIMES, UP_TIMES
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, Workload
from nemutator_controller.placement.scores import TALKERS, explained
from nemutator_controller.placement.talker_grades import (
    LEAST_RATE,
    MOST_LABELS,
    TalkerGrades,
    selecting,
)

from tests.controller.placement.nodes import POD, WEB, node, snapshot

CACHE: Workload = ("shop", "StatefulSet", "cache")
BASE: Workload = ("data", "Deployment", "base")
LABELS = {CACHE: {"app": "cache"}, BASE: {"app": "base"}, WEB: {"app": "web"}}


def talks(
    rates: Mapping[Workload, float],
    labels: Mapping[Workload, Mapping[str, str]] = LABELS,
    *,
    taken_at: float = 0.0,
) -> NodesSnapshot:
    return replace(snapshot(node("a"), taken_at=taken_at), peers={WEB: rates}, labels=labels)


def after(talking: TalkerGrades, found: NodesSnapshot, times: int) -> list[tuple[str, int]]:
    for _ in range(times):
        talking.see(found)
    return [
        (peer.namespace, peer.quarters) for one in talking.told(found).items for peer in one.peers
    ]


def test_who_exchanges_most_is_told_in_quarters_of_it() -> None:
    found = talks({CACHE: 1e6, BASE: 6e5})
    talking = TalkerGrades()
    assert after(talking, found, UP_TIMES - 1) == []
    assert after(talking, found, 1) == [("shop", 4), ("data", 2)]
    [one] = talking.told(found).items
    assert (one.namespace, one.owner_kind, one.owner) == WEB
    assert [peer.labels for peer in one.peers] == [{"app": "cache"}, {"app": "base"}]


def test_little_is_no_reason_to_be_near() -> None:
    assert after(TalkerGrades(), talks({CACHE: 1e6, BASE: 2e5}), 3) == [("shop", 4)]
    assert after(TalkerGrades(), talks({CACHE: LEAST_RATE - 1}), 3) == []
    assert after(TalkerGrades(), talks({}), 3) == []


def test_what_wavers_changes_nothing_and_what_ends_is_told_no_longer() -> None:
    talking = TalkerGrades()
    after(talking, talks({CACHE: 1e6, BASE: 6e5}), 2)
    for share in (0.74, 0.45, 0.7, 0.44):
        assert after(talking, talks({CACHE: 1e6, BASE: share * 1e6}), 1) == [
            ("shop", 4),
            ("data", 2),
        ]
    assert after(talking, talks({}), DOWN_TIMES - 1) == [("shop", 4), ("data", 2)]
    assert after(talking, talks({}), 1) == []


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {"pod-template-hash": "5d6", "nemutator.io/victim": "2"},
        {f"k{number}": "v" for number in range(MOST_LABELS + 1)},
        {f"k{number}": "v" * 63 for number in range(MOST_LABELS)},
    ],
    ids=["none", "of one version", "many", "long"],
)
def test_labels_that_find_nobody_or_take_too_much_are_not_told(labels: Mapping[str, str]) -> None:
    assert selecting(labels) == {}
    found = talks({CACHE: 1e6, BASE: 1e6}, {**LABELS, CACHE: labels})
    assert after(TalkerGrades(), found, 2) == [("data", 4)]


def test_of_many_peers_and_workloads_some_are_told_the_same_as_before() -> None:
    peers: dict[Workload, float] = {("n", "Deployment", f"p{n:02}"): 1e6 for n in range(40)}
    labels = {key: {"app": "p"} for key in peers}
    assert len(after(TalkerGrades(), talks(peers, labels), 2)) == MOST_TALKERS
    several: dict[Workload, Mapping[Workload, float]] = {
        ("n", "Deployment", f"w{n:05}"): {CACHE: 1e6} for n in range(1, MOST_TALKING + 3)
    }
    talking = TalkerGrades()
    found = replace(talks({}), peers=several)
    assert len(after(talking, found, 2)) == MOST_TALKING
    assert talking.left_off == 2
    before = talking.told(found)
    first: Workload = ("n", "Deployment", "w00000")
    found = replace(found, peers={first: {CACHE: 1e6}, **several})
    after(talking, found, 2)
    assert (talking.told(found), talking.left_off) == (before, 3)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=5),
    st.lists(st.integers(0, 5), min_size=2, max_size=5),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
)
def test_the_weights_of_peers_on_a_node_are_what_the_extender_scores(
    caches: list[int], bases: list[int], share: float
) -> None:
    """What the scheduler adds up of our terms for the pods on each node is the factor of talkers, of the most."""
    count = min(len(caches), len(bases))
    names = [f"n{number}" for number in range(count)]
    rates = {CACHE: 1e6, BASE: share * 1e6}
    pods = {CACHE: caches[:count], BASE: bases[:count]}
    on_nodes = {
        name: sum(rates[peer] * several[place] for peer, several in pods.items())
        for place, name in enumerate(names)
    }
    found = replace(
        snapshot(*map(node, names), talkers={WEB: on_nodes}), peers={WEB: rates}, labels=LABELS
    )
    talking = TalkerGrades()
    after(talking, found, 2)
    [one] = talking.told(found).items
    of = {"cache": CACHE, "base": BASE}
    summed = np.zeros(count)
    for peer in one.peers:
        summed += np.multiply(pods[of[peer.labels["app"]]], peer.quarters)
    factors = {
        each.node: next(one.score for one in each.factors if one.factor is TALKERS)
        for each in explained(found, POD)
    }
    most = summed.max()
    for place, name in enumerate(names):
        assert factors[name] == pytest.approx(summed[place] / most if most else 0.0, abs=0.001)
