from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Envelope, Pressure, Pressures
from nemutator_common.wire_columns import PackedReport, RecordHead
from nemutator_controller.cluster.nodes import (
    SILENT_S,
    Nodes,
    ReportedNode,
    Waiting,
    sums_of,
)
from nemutator_controller.cluster.packed_reports import pack

from tests.fakes.batches import NOW, batch, busy_report


def see(nodes: Nodes, seq: int, *, node: str = "n1", epoch: str = "e1", now: float = NOW) -> bool:
    return nodes.see(node, epoch, batch((seq,)).envelopes[0], now=now)


def kept(name: str, *, seen_at: float) -> ReportedNode:
    return replace(ReportedNode.of(name, "old", 9, seen_at, busy_report()), restored=True)


@given(st.permutations(range(1, 7)))
def test_the_highest_number_wins_in_whatever_order_they_come(order: list[int]) -> None:
    nodes = Nodes(most=1)
    for seq in order:
        see(nodes, seq)
    assert nodes.all()[0].seq == 6


def test_seeing_a_report_again_does_not_make_it_fresh() -> None:
    nodes = Nodes(most=1)
    see(nodes, 1, now=NOW)
    see(nodes, 1, now=NOW + 60)
    assert nodes.all()[0].seen_at == NOW


def test_another_life_of_the_agent_replaces_the_one_before() -> None:
    nodes = Nodes(most=1)
    see(nodes, 50, epoch="e1")
    see(nodes, 1, epoch="e2")
    assert (nodes.all()[0].epoch, nodes.all()[0].seq) == ("e2", 1)


@given(st.lists(st.sampled_from("abcdef"), max_size=20), st.integers(1, 4))
def test_there_are_never_more_nodes_than_allowed(names: list[str], most: int) -> None:
    nodes = Nodes(most=most)
    for name in names:
        accepted = see(nodes, 1, node=name)
        assert accepted == (name in {node.name for node in nodes.all()})
    assert len(nodes.all()) == min(most, len(set(names)))
    assert [node.name for node in nodes.all()] == sorted(node.name for node in nodes.all())


def test_a_node_is_found_by_its_name() -> None:
    nodes = Nodes(most=2)
    see(nodes, 1, node="n1")
    assert [node.name for node in nodes.named("n1")] == ["n1"]
    assert nodes.named("n2") == ()


def test_the_sums_of_a_node_are_those_of_its_report() -> None:
    report = busy_report(workloads=3, processes=5)
    waits = Pressures(cpu=Pressure(1.5, 9.0, None, None), io=Pressure(0.0, 9.0, 9.0, 9.0))
    sums = sums_of(replace(report, machine=replace(report.machine, pressures=waits, cpu_cores=1.2)))
    assert (sums.workloads, sums.processes, sums.missing) == (3, 5, 1)
    assert (sums.cpus, sums.cpu_cores, sums.memory_bytes) == (2, 1.2, 1000)
    assert sums.waiting == Waiting(cpu=1.5, memory=None, io=0.0)


def test_a_restored_node_is_stale_until_it_is_heard_of() -> None:
    nodes = Nodes(most=3)
    nodes.restore([kept("n1", seen_at=NOW)])
    assert nodes.all()[0].stale(NOW, after_s=15)
    see(nodes, 1)
    assert not nodes.all()[0].stale(NOW, after_s=15)
    assert not nodes.all()[0].stale(NOW + 15, after_s=15)
    assert nodes.all()[0].stale(NOW + 15.1, after_s=15)


def test_restoring_never_hides_what_is_fresh_and_prefers_the_last_seen() -> None:
    nodes = Nodes(most=2)
    see(nodes, 1, node="n1")
    nodes.restore([kept("n1", seen_at=NOW), kept("n2", seen_at=5), kept("n3", seen_at=6)])
    assert [(node.name, node.restored) for node in nodes.all()] == [("n1", False), ("n3", True)]


def test_nodes_that_are_long_gone_are_forgotten() -> None:
    nodes = Nodes(most=2)
    see(nodes, 1, node="old", now=NOW - 100)
    see(nodes, 1, node="new", now=NOW)
    assert nodes.forget(silent_since=NOW - 50) == ("old",)
    assert [node.name for node in nodes.all()] == ["new"]


def test_a_node_is_a_value() -> None:
    assert kept("a", seen_at=1) == replace(kept("b", seen_at=1), name="a")


def test_a_node_that_is_long_silent_makes_room_for_another_one() -> None:
    nodes = Nodes(most=2)
    see(nodes, 1, node="silent", now=NOW - SILENT_S)
    see(nodes, 1, node="lives", now=NOW - SILENT_S + 1)
    assert see(nodes, 1, node="new", now=NOW)
    assert [node.name for node in nodes.all()] == ["lives", "new"]
    assert not see(nodes, 1, node="one too many", now=NOW)


def closed(snapshot: bytes) -> ReportedNode:
    """The node of `busy_report`, whose agent has packed *snapshot* instead of it."""
    nodes, report = Nodes(most=2), busy_report()
    head = RecordHead(
        taken_at=report.taken_at, machine=report.machine, workloads=3, processes=5, missing=1
    )
    light = replace(report, workloads=(), processes=(), missing=())
    nodes.see("n1", "e1", Envelope(1, light), now=NOW, packed=PackedReport(head, snapshot))
    [shown] = nodes.all()
    return shown


def test_a_snapshot_that_its_agent_packed_stays_closed_until_somebody_looks() -> None:
    shown = closed(pack(busy_report()))
    assert shown.packed == pack(busy_report())
    assert shown.sums == sums_of(busy_report())
    assert shown.report == busy_report()


def test_of_a_bad_snapshot_the_node_says_why_it_has_none() -> None:
    shown = closed(b"x").report
    assert (shown.machine, shown.workloads) == (busy_report().machine, ())
    assert "unreadable" in shown.missing[0].why
