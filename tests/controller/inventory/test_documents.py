import msgspec
from nemutator_controller.inventory.documents import (
    Used,
    sums_document,
    used_of,
    workload_item,
    workload_totals,
)
from nemutator_controller.inventory.model import Tally

from tests.fakes.inventory import shop

GI = 1 << 30


def test_a_workload_says_what_it_asks_for_uses_and_wastes() -> None:
    item = workload_item(shop().workloads["shop", "Deployment", "web"])
    assert (item.namespace, item.kind, item.name, item.labels) == (
        "shop",
        "Deployment",
        "web",
        {"team": "a"},
    )
    assert msgspec.to_builtins(item.replicas) == {
        "wanted": 3,
        "ready": 1,
        "pods": 2,
        "pending": 0,
        "unscheduled": 0,
    }
    assert item.strategy == "Recreate"
    assert item.requests == Used(1.0, 2 * GI)
    assert item.use.now == Used(0.3, 1 << 28)
    assert item.use.usual == Used(0.2, 1 << 29)
    assert item.use.worst == Used(0.4, GI)
    assert item.waste == Used(0.6, GI)
    assert (item.restarts, item.oom_ended, item.throttled, item.nodes) == (2, 1, 0.5, 2)
    assert item.waiting is not None
    assert (item.waiting.cpu, item.waiting.memory, item.waiting.io) == (12.5, None, 3.0)
    assert item.autoscaler is not None
    assert (item.autoscaler.min_replicas, item.autoscaler.metrics) == (2, ["cpu"])
    assert item.disruption_budget is not None
    assert item.disruption_budget.min_available == 1


def test_what_is_not_known_is_not_zero() -> None:
    item = workload_item(shop().workloads["shop", "Pod", "db-1"])
    unknown = Used(None, None)
    assert (item.use.now, item.use.usual, item.use.worst, item.waste) == (unknown,) * 4
    assert (item.autoscaler, item.vertical_autoscaler, item.strategy) == (None, None, None)
    assert used_of(None) == unknown
    assert sums_document(Tally()).used == unknown


def test_totals_are_of_all_workloads() -> None:
    totals = workload_totals(shop().workloads.values())
    assert (totals.workloads, totals.sums.pods.count, totals.sums.pods.unscheduled) == (3, 3, 1)
    assert totals.sums.requested == Used(3.0, 2 * GI)
    assert totals.waste == Used(0.6, GI)
