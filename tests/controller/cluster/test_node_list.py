from nemutator_controller.cluster.node_list import listed
from nemutator_controller.cluster.nodes import ReportedNode

from tests.fakes.batches import NOW, busy_report

NODE = ReportedNode.of("n1", "e1", 1, NOW - 20, busy_report())


def test_a_listed_node_says_how_old_its_report_is() -> None:
    item = listed(NODE, now=NOW, after_s=15)
    assert (item.name, item.age_s, item.stale) == ("n1", 20.0, True)
    assert item.sums.waiting.cpu is None


def test_a_clock_that_was_set_back_gives_no_negative_age() -> None:
    assert listed(NODE, now=NOW - 60, after_s=15).age_s == 0
