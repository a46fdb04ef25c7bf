"""A wave of pods that is scored by one snapshot is not sent to one node."""

from dataclasses import replace

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, WantedPod
from nemutator_controller.placement.promises import Promises
from nemutator_controller.placement.scores import asked_scores

from tests.controller.placement.nodes import GIB, POD, WEB, best, node, snapshot

NAMES = ["a", "b"]
LARGE = WantedPod(workload=WEB, cpu_cores=1.5, memory_bytes=2 * GIB)


def sent(promises: Promises, found: NodesSnapshot, pod: WantedPod = LARGE) -> str:
    scored = asked_scores(promises.with_those(found), pod, NAMES)
    promises.add(pod, NAMES, scored)
    return NAMES[best(scored)]


def two() -> NodesSnapshot:
    return snapshot(
        node("a", used_cores=2.5, worst_cores=2.5), node("b", used_cores=2.0, worst_cores=2.0)
    )


def test_the_next_of_a_wave_counts_those_before_it() -> None:
    found, promises = two(), Promises()
    assert [sent(promises, found) for _ in range(4)] == ["a", "b", "b", "a"]
    # The snapshot itself stays as it was taken.
    assert found.columns["used_cores"].tolist() == [2.5, 2.0]


def test_it_counts_until_the_snapshot_after_the_next_one() -> None:
    promises = Promises()
    assert sent(promises, two()) == "a"
    following, after = two(), two()
    assert promises.with_those(following).columns["used_cores"].tolist() == [4.0, 2.0]
    assert promises.with_those(after).columns["used_cores"].tolist() == [2.5, 2.0]


def test_where_nodes_have_come_or_gone_all_begins_anew() -> None:
    promises = Promises()
    sent(promises, two())
    other = snapshot(node("b", used_cores=2.0), node("c", used_cores=1.0))
    assert promises.with_those(other).columns["used_cores"].tolist() == [2.0, 1.0]


def test_a_pod_counts_by_what_its_workload_uses_when_it_is_busy() -> None:
    promises, found = Promises(), replace(two(), worst={WEB: 3.0})
    sent(promises, found)
    after = promises.with_those(found).columns
    assert sorted(after["worst_cores"] - found.columns["worst_cores"]) == [0.0, 3.0]
    assert sorted(after["used_cores"] - found.columns["used_cores"]) == [0.0, 1.5]


def test_a_question_without_nodes_or_about_unknown_ones_promises_nothing() -> None:
    promises, found = Promises(), two()
    promises.add(POD, NAMES, [1.0, 0.0])
    before = promises.with_those(found)
    promises.add(POD, [], [])
    promises.add(POD, ["nobody"], [0.5])
    assert promises.with_those(found).columns["used_cores"].tolist() == (
        before.columns["used_cores"].tolist()
    )
