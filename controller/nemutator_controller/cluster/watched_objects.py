"""What is watched of a cluster beside its pods, as it was at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.objects import LimitRange, Object, ResourceQuota
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    DisruptionBudget,
    VerticalAutoscaler,
    WatchedWorkload,
)

T = TypeVar("T", bound=Object)

Objects = Mapping[str, T]
"""By `namespace/name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsSnapshot:
    """All of them at one moment. What is not listed yet, or not served, is empty."""

    nodes: Objects[WatchedNode] = field(default_factory=dict)
    workloads: Mapping[str, Objects[WatchedWorkload]] = field(default_factory=dict)
    """By kind."""
    autoscalers: Objects[Autoscaler] = field(default_factory=dict)
    vertical_autoscalers: Objects[VerticalAutoscaler] = field(default_factory=dict)
    disruption_budgets: Objects[DisruptionBudget] = field(default_factory=dict)
    limit_ranges: Objects[LimitRange] = field(default_factory=dict)
    resource_quotas: Objects[ResourceQuota] = field(default_factory=dict)
    services: Objects[Service] = field(default_factory=dict)
    unlisted: tuple[str, ...] = ()
    """Resources of which there is no complete copy yet."""
