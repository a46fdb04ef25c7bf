from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.placement.nodes_snapshot import NodeFacts, NodesSnapshot, WantedPod
from nemutator_controller.placement.scores import FACTORS, asked_scores, explained, scores

from tests.controller.placement.nodes import GIB, POD, WEB, best, node, snapshot


def preferred(found: NodesSnapshot, pod: WantedPod = POD, season: str = "") -> str:
    return found.names[best(scores(replace(found, season=season), pod).tolist())]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (node("good"), node("bad", used_cores=7.4)),
        (node("good", used_bytes=8 * GIB), node("bad", used_bytes=31 * GIB)),
        (node("good"), node("bad", pods=0)),
        (node("good"), node("bad", requested_bytes=30 * GIB)),
        (node("good"), node("bad", aggressor=3)),
        (node("good", used_cores=4.0), node("bad", used_cores=1.0)),
        (
            node("good", used_cores=1.0, worst_cores=3.0),
            node("bad", used_cores=4.0, worst_cores=7.0),
        ),
    ],
    ids=[
        "hot",
        "full",
        "empty",
        "lopsided",
        "beside an aggressor",
        "could be packed",
        "cool now and hot in a peak",
    ],
)
def test_the_better_node_is_preferred(good: NodeFacts, bad: NodeFacts) -> None:
    assert preferred(snapshot(bad, good)) == "good"


def test_familiars_are_spread_and_talkers_come_together() -> None:
    nodes = node("a"), node("b")
    assert preferred(snapshot(*nodes, familiars={WEB: {"a": 2}})) == "b"
    assert preferred(snapshot(*nodes, talkers={WEB: {"b": 1e6, "a": 1e5}})) == "b"


def test_a_pod_counts_by_what_its_workload_uses_when_it_is_busy() -> None:
    found = snapshot(node("a", worst_cores=3.0, used_cores=4.0), node("b", worst_cores=1.0))
    assert preferred(found) == "a"
    assert preferred(replace(found, worst={WEB: 2.5})) == "b"


def test_what_a_node_could_come_to_is_said_in_words() -> None:
    first, other = explained(snapshot(node("a", worst_cores=1.5), node("b")), POD)
    words = {
        one.node: {each.factor.name: each.why for each in one.factors} for one in (first, other)
    }
    assert words["a"]["heat"] == (
        "with it 25 % of its CPU would be in use if all there are busy at once"
    )
    assert words["b"]["heat"] == "how much its pods use when they are busy is not known"


def test_an_aggressor_goes_where_nobody_suffers() -> None:
    nodes = node("a", victim=3), node("b", used_cores=1.9)
    assert preferred(snapshot(*nodes)) == "a"
    assert preferred(snapshot(*nodes, aggressors={WEB: 2})) == "b"


def test_before_a_peak_pods_are_spread_over_empty_nodes_too() -> None:
    nodes = snapshot(node("busy", used_cores=4.0), node("free", used_cores=0.0, pods=0))
    assert preferred(nodes) == "busy"
    assert preferred(nodes, season="pre-peak") == "free"
    # A workload's own season counts before the cluster's.
    own = {POD.workload: "pre-peak"}
    assert preferred(replace(nodes, seasons=own), season="off-peak") == "free"


def test_a_node_that_nobody_knows_has_the_middle_of_those_that_are_known() -> None:
    found = snapshot(node("a"), node("b", used_cores=7.9), node("c", pods=0))
    known = asked_scores(found, POD, ["a", "b", "c"])
    scored = asked_scores(found, POD, ["nobody", "a", "b", "c"])
    assert scored == [sorted(known)[1], *known]
    assert asked_scores(found, POD, ["nobody"]) == [0.5]
    assert asked_scores(found, POD, []) == []


def test_the_reasons_are_in_words_the_best_node_first() -> None:
    found = explained(
        snapshot(
            node("a", aggressor=2, used_cores=None),
            node("b"),
            familiars={WEB: {"a": 1}},
            talkers={WEB: {"b": 2e6}},
            aggressors={WEB: 1},
        ),
        POD,
    )
    assert [one.node for one in found] == ["b", "a"]
    words = {each.factor.name: each.why for each in found[1].factors}
    assert words["cpu"] == "how much CPU it uses is not known"
    assert words["memory"] == "with it 28 % of its memory would be in use"
    assert words["familiars"] == "1 pod of its workload is there"
    assert words["neighbours"] == "others suffer from a pod there by grade 2"
    assert "2.00 MB/s" in {each.factor.name: each.why for each in found[0].factors}["talkers"]
    assert len(explained(snapshot(node("a"), node("b")), POD, most=1)) == 1


def test_nodes_without_anything_to_take_are_no_fault() -> None:
    found = snapshot(node("a", cpu_cores=0.0, memory_bytes=0.0))
    assert np.isfinite(scores(found, POD)).all()
    words = {each.factor.name: each.why for each in explained(found, POD)[0].factors}
    assert words["shape"] == "what it can take is not known"
    assert scores(snapshot(), POD).tolist() == []


amounts = st.floats(0, 1e15)


@given(
    st.lists(
        st.tuples(amounts, amounts, amounts | st.none(), st.integers(0, 200), st.integers(0, 4)),
        max_size=20,
    ),
    amounts,
    st.sampled_from(["", "peak", "off-peak"]),
)
def test_every_score_lies_between_0_and_1_and_is_the_sum_of_its_factors(
    given_nodes: list[tuple[float, float, float | None, int, int]], wanted: float, season: str
) -> None:
    found = snapshot(
        *(
            node(
                str(n),
                cpu_cores=cores,
                requested_cores=asked,
                used_cores=used,
                pods=pods,
                aggressor=grade,
            )
            for n, (cores, asked, used, pods, grade) in enumerate(given_nodes)
        )
    )
    pod = WantedPod(workload=WEB, cpu_cores=wanted)
    every = scores(replace(found, season=season), pod)
    assert ((every >= 0) & (every <= 1)).all()
    weights = sum(factor.weight for factor in FACTORS)
    for one in explained(replace(found, season=season), pod):
        total = sum(each.factor.weight * each.score for each in one.factors) / weights
        assert one.score == pytest.approx(total, abs=0.002)
