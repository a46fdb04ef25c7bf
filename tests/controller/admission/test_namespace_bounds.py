"""LimitRanges, quotas and nodes are read as an API server writes them."""

import msgspec
from nemutator_controller.admission.namespace_bounds import largest_of, ranges_of, rooms_of
from nemutator_controller.kube.objects import LimitRange, Node, ResourceQuota
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.resource_bounds import Range, Room

LIMIT_RANGE = b"""{"metadata": {"name": "l", "namespace": "shop"}, "spec": {"limits": [
  {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "2", "memory": "4Gi"},
   "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}, "maxLimitRequestRatio": {"cpu": "4"}},
  {"type": "Pod", "max": {"cpu": "8"}, "maxLimitRequestRatio": {"memory": "0"}},
  {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi", "cpu": "1"}}
]}}"""

QUOTA = b"""{"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": {"cpu": "99"}}, "status": {
  "hard": {"cpu": "10", "limits.memory": "8Gi", "requests.ephemeral-storage": "5G", "pods": "10", "cpu.x": "1",
           "requests.memory": "much"},
  "used": {"cpu": "7500m", "limits.memory": "9Gi"}}}"""


def test_a_limit_range_is_about_containers_and_pods() -> None:
    found = msgspec.json.decode(LIMIT_RANGE, type=LimitRange)
    amounts = {text: parse_quantity(text) for text in ("100m", "2", "4Gi", "4", "8")}
    assert list(ranges_of([found])) == [
        Range("LimitRange l", "container", "cpu", amounts["100m"], amounts["2"], amounts["4"]),
        Range("LimitRange l", "container", "memory", None, amounts["4Gi"]),
        Range("LimitRange l", "pod", "cpu", None, amounts["8"]),
    ]


def test_a_quota_leaves_what_is_not_used() -> None:
    found = msgspec.json.decode(QUOTA, type=ResourceQuota)
    assert list(rooms_of([found])) == [
        Room("ResourceQuota q", "requests", "cpu", parse_quantity("2500m")),
        Room("ResourceQuota q", "limits", "memory", parse_quantity("-1Gi")),
        Room("ResourceQuota q", "requests", "ephemeral-storage", parse_quantity("5G")),
    ]


def test_the_largest_node_is_one_for_each_resource() -> None:
    nodes = [
        msgspec.json.decode(document, type=Node)
        for document in (
            b'{"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}',
            b'{"metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "3920m", "memory": "16Gi"}}}',
            b'{"metadata": {"name": "new"}}',
        )
    ]
    assert largest_of(nodes) == {"cpu": parse_quantity("4"), "memory": parse_quantity("16Gi")}
    assert largest_of([]) == {}
