from nemutator_controller.cluster.node_list import listed
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.inventory.documents import Used
from nemutator_controller.inventory.node_documents import machine_item, node_item, node_totals

from tests.fakes.batches import NOW, busy_report
from tests.fakes.inventory import shop

GI = 1 << 30
REPORTED = listed(ReportedNode.of("n1", "e1", 1, NOW - 20, busy_report()), now=NOW, after_s=60)


def test_a_node_has_three_lines_allocatable_requested_and_used() -> None:
    item = node_item(shop().nodes["n1"], REPORTED)
    assert item.allocatable == Used(4.0, 8 * GI)
    assert item.requested == Used(0.5, GI)
    sums = REPORTED.sums
    assert item.used.memory_bytes == sums.memory_used_bytes
    assert item.used_by_pods == Used(0.25, 1 << 28)
    assert item.waste == Used(0.3, GI // 2)
    assert (item.ready, item.stale, item.age_s, item.most_pods) == (True, False, 20.0, 110)
    assert item.taints == ["gpu=yes:NoSchedule"]
    assert item.labels == {"zone": "a"}
    assert [each.type for each in item.conditions] == ["Ready"]


def test_a_node_that_has_never_reported_is_there_without_its_use() -> None:
    item = node_item(shop().nodes["n2"], None)
    assert (item.seen_at, item.age_s, item.sums, item.stale) == (None, None, None, True)
    assert (item.used, item.unschedulable, item.ready) == (Used(None, None), True, False)


def test_of_a_machine_alone_all_can_be_used() -> None:
    item = machine_item(REPORTED)
    assert item.allocatable == item.capacity == Used(2.0, REPORTED.sums.memory_bytes)
    assert (item.ready, item.requested) == (None, Used(0.0, 0))


def test_totals_are_sums_of_what_is_known() -> None:
    found = shop()
    totals = node_totals(
        [node_item(found.nodes["n1"], REPORTED), node_item(found.nodes["n2"], None)]
    )
    assert (totals.nodes, totals.ready, totals.stale, totals.pods) == (2, 1, 1, 2)
    assert totals.requested == Used(1.0, 2 * GI)
    assert totals.used.memory_bytes == REPORTED.sums.memory_used_bytes
    assert node_totals([]).used == Used(None, None)
