"""The answer to "what runs where, and what does it use": the document of /api/v1/topology."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec
from nemutator_common.wire import Machine, Missing, Process

from nemutator_controller.cluster.labels import labels_of, name_of, runtimes_by_workload
from nemutator_controller.cluster.nodes import Node
from nemutator_controller.cluster.pods import Nobody, Whose

NOBODY = Nobody()


class Selector(Protocol):
    def matches(self, labels: Mapping[str, str]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Filter:
    """Which workloads to show; those that are left out take their processes with them."""

    namespace: str | None = None
    selector: Selector | None = None

    def admits(self, labels: Mapping[str, str]) -> bool:
        if self.namespace is not None and self.namespace != labels["namespace"]:
            return False
        return self.selector is None or self.selector.matches(labels)

    @property
    def admits_all(self) -> bool:
        return self.namespace is None and self.selector is None


@dataclass(frozen=True, slots=True)
class NodeView:
    name: str
    seen_at: float
    age_s: float
    stale: bool
    machine: Machine
    workloads: list[dict[str, object]]
    processes: list[Process]
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    apiVersion: str = "nemutator.io/v1"  # noqa: N815 - Kubernetes spells it so
    kind: str = "Topology"
    now: float
    nodes: list[NodeView]


def node_view(
    node: Node, wanted: Filter, *, now: float, after_s: float, whose: Whose = NOBODY
) -> NodeView:
    """*node* with those of its workloads that are *wanted*."""
    report = node.report
    runtimes = runtimes_by_workload(report.processes)
    workloads = []
    for workload in report.workloads:
        placed = whose.of(node.name, workload.pod_uid, workload.container_id)
        runtime = runtimes.get(workload.path)
        labels = labels_of(workload, node=node.name, runtime=runtime, placed=placed)
        if wanted.admits(labels):
            added = {
                "name": name_of(workload, placed),
                "namespace": labels["namespace"],
                "labels": labels,
            }
            workloads.append(msgspec.to_builtins(workload) | added)
    paths = {workload["path"] for workload in workloads}
    return NodeView(
        name=node.name,
        seen_at=node.seen_at,
        # A clock that was set back must not make a report come from the future.
        age_s=max(0.0, now - node.seen_at),
        stale=node.stale(now, after_s=after_s),
        machine=report.machine,
        workloads=workloads,
        processes=[p for p in report.processes if wanted.admits_all or p.workload in paths],
        missing=report.missing,
    )
