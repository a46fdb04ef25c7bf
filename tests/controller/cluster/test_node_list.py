import msgspec
from nemutator_controller.cluster.node_list import NodeList, listed
from nemutator_controller.cluster.nodes import ReportedNode

from tests.fakes.batches import NOW, busy_report

NODE = ReportedNode.of("n1", "e1", 1, NOW - 20, busy_report())


def test_the_list_has_the_agreed_shape() -> None:
    items = [listed(NODE, now=NOW, after_s=15)]
    document = msgspec.to_builtins(NodeList(now=NOW, items=items))
    assert list(document) == ["apiVersion", "kind", "now", "items"], "items are sent last"
    [item] = document["items"]
    assert list(item) == ["name", "seen_at", "age_s", "stale", "sums"]
    assert (item["name"], item["age_s"], item["stale"]) == ("n1", 20.0, True)
    assert item["sums"]["waiting"] == {"cpu": None, "memory": None, "io": None}


def test_a_clock_that_was_set_back_gives_no_negative_age() -> None:
    assert listed(NODE, now=NOW - 60, after_s=15).age_s == 0
