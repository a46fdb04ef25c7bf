"""A wave of pods that is scored by one snapshot is not sent to one node."""

from dataclasses import replace

import pytest
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, WantedPod
from nemutator_controller.placement.promises import KEPT_S, LOOKED_UP, MOST, UNKNOWN_S, Promises
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


def used(found: NodesSnapshot) -> list[float]:
    result: list[float] = found.columns["used_cores"].tolist()
    return result


def ask(promises: Promises, found: NodesSnapshot, uid: str) -> None:
    scored = asked_scores(promises.with_those(found, uid), LARGE, NAMES)
    promises.add(LARGE, NAMES, scored, uid)


def test_it_counts_until_a_snapshot_has_it_however_many_come_before() -> None:
    promises = Promises()
    ask(promises, two(), "u1")
    for _ in range(5):
        assert used(promises.with_those(two())) == [4.0, 2.0]
    assert used(promises.with_those(replace(two(), bound={"u1"}))) == [2.5, 2.0]
    assert len(promises) == 0


def test_a_pod_that_no_snapshot_has_for_a_minute_counts_no_longer() -> None:
    promises = Promises()
    ask(promises, two(), "u1")
    assert used(promises.with_those(replace(two(), taken_at=KEPT_S - 1))) == [4.0, 2.0]
    assert used(promises.with_those(replace(two(), taken_at=KEPT_S))) == [2.5, 2.0]


def test_a_pod_that_nobody_knows_counts_for_some_seconds() -> None:
    promises = Promises(lambda uid: None if uid == "invented" else "")
    ask(promises, two(), "invented")
    assert used(promises.with_those(replace(two(), taken_at=UNKNOWN_S - 1))) == [4.0, 2.0]
    assert used(promises.with_those(replace(two(), taken_at=UNKNOWN_S))) == [2.5, 2.0]


def test_a_clock_that_jumps_back_keeps_no_promise_for_long() -> None:
    promises = Promises()
    ask(promises, replace(two(), taken_at=1e9), "u1")
    assert used(promises.with_those(two())) == [2.5, 2.0]


def test_a_pod_that_is_asked_about_again_counts_once_and_not_against_itself() -> None:
    promises, found = Promises(), two()
    for _ in range(3):
        ask(promises, found, "u1")
        assert used(promises.with_those(found)) == [4.0, 2.0]
    assert used(promises.with_those(found, "u1")) == [2.5, 2.0]


def test_a_pod_counts_on_the_node_that_the_scheduler_took_in_the_end() -> None:
    nodes: dict[str, str] = {}
    promises, found = Promises(lambda uid: nodes.get(uid, "")), two()
    ask(promises, found, "u1")
    assert used(promises.with_those(found)) == [4.0, 2.0]
    nodes["u1"] = "b"
    assert used(promises.with_those(found)) == [2.5, 3.5]
    assert used(promises.with_those(two())) == [2.5, 3.5]
    nodes["u1"] = "a node that is not known"
    ask(promises, found, "u1")
    assert used(promises.with_those(found)) == [2.5, 2.0]


def test_of_many_some_are_looked_up_at_each_question_and_all_in_their_turn() -> None:
    asked: list[str] = []

    def node_of(uid: str) -> str:
        asked.append(uid)
        return ""

    promises, found = Promises(node_of), two()
    for number in range(3 * LOOKED_UP):
        promises.with_those(found)
        promises.add(POD, NAMES, [1.0, 0.0], f"u{number}")
    asked.clear()
    for _ in range(3):
        promises.with_those(found)
    assert sorted(asked) == sorted({f"u{number}" for number in range(3 * LOOKED_UP)})


def test_no_more_are_kept_than_a_bound() -> None:
    promises, found = Promises(), two()
    promises.with_those(found)
    for number in range(MOST + 2):
        promises.add(POD, NAMES, [1.0, 0.0], f"u{number % (MOST + 1)}")
    assert len(promises) == MOST
    assert used(promises.with_those(found))[0] == pytest.approx(2.5 + 0.5 * MOST)


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


def test_a_node_that_was_promised_is_empty_no_longer() -> None:
    found, promises = snapshot(node("a", pods=0), node("b", pods=0)), Promises()
    ask(promises, found, "u1")
    assert promises.with_those(found).columns["pods"].tolist() == [1.0, 0.0]
    # The next one has no other node opened for it.
    small = WantedPod(workload=("shop", "Deployment", "small"), cpu_cores=0.1, memory_bytes=GIB / 8)
    assert sent(promises, found, small) == "a"
