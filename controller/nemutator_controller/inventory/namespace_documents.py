"""Workloads summed by namespace, with what bounds these."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.documents import (
    Sums,
    Used,
    WorkloadTotals,
    sums_document,
    used_of,
)
from nemutator_controller.inventory.figures import namespace_figures
from nemutator_controller.inventory.model import Tally, WorkloadFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceItem:
    name: str
    workloads: int
    sums: Sums
    waste: Used
    quotas: Mapping[str, Mapping[str, str]]
    """By quota and resource: what is used, `of` what may be."""
    limit_ranges: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "NamespaceList"
    now: float
    counted_at: float
    totals: WorkloadTotals
    items: Sequence[NamespaceItem]


def namespace_list(
    several: Iterable[WorkloadFigures],
    objects: ObjectsSnapshot,
    *,
    now: float,
    counted_at: float,
) -> NamespaceList:
    """The sums of *several* workloads by namespace, with what bounds these."""
    found = namespace_figures(several)
    quotas: dict[str, dict[str, Mapping[str, str]]] = {name: {} for name in found}
    for quota in objects.resource_quotas.values():
        if quota.metadata.namespace in found:
            quotas[quota.metadata.namespace][quota.metadata.name] = {
                resource: f"{quota.status.used.get(resource, '0')} of {most}"
                for resource, most in sorted(quota.status.hard.items())
            }
    ranges: dict[str, list[str]] = {name: [] for name in found}
    for each in objects.limit_ranges.values():
        if each.metadata.namespace in found:
            ranges[each.metadata.namespace].append(each.metadata.name)
    total, waste, workloads = Tally(), CpuMemory(), 0
    for one in found.values():
        total.add(one.tally)
        waste += one.waste
        workloads += one.workloads
    return NamespaceList(
        now=now,
        counted_at=counted_at,
        totals=WorkloadTotals(workloads=workloads, sums=sums_document(total), waste=used_of(waste)),
        items=[
            NamespaceItem(
                name=name,
                workloads=one.workloads,
                sums=sums_document(one.tally),
                waste=used_of(one.waste),
                quotas=quotas[name],
                limit_ranges=sorted(ranges[name]),
            )
            for name, one in found.items()
        ],
    )
