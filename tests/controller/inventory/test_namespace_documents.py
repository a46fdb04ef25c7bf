import msgspec
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.documents import Used
from nemutator_controller.inventory.namespace_documents import namespace_list
from nemutator_controller.kube.objects import LimitRange, ResourceQuota

from tests.fakes.inventory import keyed, meta, shop


def test_a_namespace_has_its_sums_and_what_bounds_it() -> None:
    status = {"hard": {"cpu": "10", "pods": "5"}, "used": {"cpu": "3"}}
    quota = msgspec.convert(
        {"metadata": {"name": "q", "namespace": "shop"}, "status": status}, ResourceQuota
    )
    objects = ObjectsSnapshot(
        resource_quotas=keyed(quota, ResourceQuota(metadata=meta("q", "other"))),
        limit_ranges=keyed(LimitRange(metadata=meta("small")), LimitRange(metadata=meta("x", "y"))),
    )
    found = namespace_list(shop().workloads.values(), objects, now=1.0, counted_at=0.5)
    [item] = found.items
    assert (item.name, item.workloads, item.sums.pods.count) == ("shop", 3, 3)
    assert item.quotas == {"q": {"cpu": "3 of 10", "pods": "0 of 5"}}
    assert item.limit_ranges == ["small"]
    assert item.waste == found.totals.waste == Used(0.6, 1 << 30)
    assert found.totals.sums == item.sums
