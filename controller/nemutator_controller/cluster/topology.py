"""The document of /api/v1/topology: what runs on each node, and what it uses."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common import names
from nemutator_common.wire import (
    Kind,
    Machine,
    Missing,
    Pressures,
    ProcessUsage,
    Report,
    Workload,
)
from nemutator_common.wire_activity import Activity

from nemutator_controller.cluster.labels import labels_of, namespace_of, runtimes_by_workload
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.packed_reports import WorkloadPlace
from nemutator_controller.cluster.pods import NoRunningPods, PodLookup
from nemutator_controller.ingest.batches import LONGEST_PATH, check_texts
from nemutator_controller.kube.label_selectors import Selector

NO_PODS = NoRunningPods()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which workloads and processes to show."""

    namespace: str | None = None
    selector: Selector | None = None

    def admits(self, labels: Mapping[str, str]) -> bool:
        if self.namespace is not None and self.namespace != labels["namespace"]:
            return False
        return self.selector is None or self.selector.matches(labels)

    def admits_node(self, name: str) -> bool:
        """Whether anything on the node of this name can be admitted. A node that is not need not be opened."""
        requirements = () if self.selector is None else self.selector.requirements
        return all(one.matches({"node": name}) for one in requirements if one.key == "node")

    @property
    def admits_all(self) -> bool:
        return self.namespace is None and self.selector is None


class LabelledWorkload(msgspec.Struct, frozen=True, gc=False):
    """A `Workload` as people see it: what it is called, and its labels."""

    path: str
    kind: Kind
    name: str
    container_id: str | None
    pod_uid: str | None
    processes: int
    cpu_cores: float | None
    cpu_is_summed: bool
    memory_bytes: int | None
    pressures: Pressures
    activity: Activity | None
    namespace: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NodeView:
    name: str
    seen_at: float
    age_s: float
    stale: bool
    machine: Machine
    namespaces: list[str]
    """Of all its workloads, also of those that the filter leaves out: people choose from them."""
    workloads: list[LabelledWorkload]
    processes: list[ProcessUsage]
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "Topology"
    now: float
    nodes: list[NodeView]
    next: str = ""
    """With it as `continue` the next page begins; empty on the last one. Only the end of a page tells where it is."""
    remaining: int = 0
    """The nodes that come after this page."""


def nodes_after(nodes: Sequence[ReportedNode], name: str) -> Sequence[ReportedNode]:
    """Those of *nodes*, which are in the order of their names, that come after *name*, whether that is still there or not."""
    return nodes[bisect_right(nodes, name, key=lambda node: node.name) :]


def node_view(
    node: ReportedNode, wanted: Filter, *, now: float, after_s: float, pods: PodLookup = NO_PODS
) -> NodeView:
    """*node* with what the filter admits of it."""
    chosen = None if wanted.namespace is None else _Chosen(node.name, wanted.namespace, pods)
    report = node.report if chosen is None else node.part(chosen.of)
    labels = _labels(node.name, report, pods)
    if chosen is None:
        namespaces = {each["namespace"] for each in labels.values()}
    else:
        namespaces = chosen.namespaces
    processes = [process for process in report.processes if _admits(wanted, process, labels)]
    with_processes = {process.workload for process in processes}
    return NodeView(
        name=node.name,
        seen_at=node.seen_at,
        age_s=node.age_s(now),
        stale=node.stale(now, after_s=after_s),
        machine=report.machine,
        namespaces=sorted(namespaces),
        workloads=[
            _workload(workload, labels[workload.path])
            for workload in report.workloads
            # The groups above a match are shown too, such as the session of the one Go program.
            if wanted.admits(labels[workload.path]) or workload.path in with_processes
        ],
        processes=processes,
        missing=report.missing,
    )


class _Chosen:
    """The part of a report that is in one namespace."""

    def __init__(self, node: str, namespace: str, pods: PodLookup) -> None:
        self._node = node
        self._namespace = namespace
        self._pods = pods
        self.namespaces: set[str] = set()
        """Of all its workloads."""

    def of(self, workloads: Sequence[WorkloadPlace]) -> Sequence[bool]:
        """Which of *workloads* are in it."""
        # They name namespaces, also where the rest of a workload is not looked at.
        check_texts("path of a workload", LONGEST_PATH, [one.path for one in workloads])
        of_pods: dict[str | None, str | None] = {None: None}
        chosen = []
        for one in workloads:
            uid = one.pod_uid
            if uid is not None and uid not in of_pods:
                # All that belongs to a pod is in its namespace.
                of_pods[uid] = self._pods.namespace_of(self._node, uid)
            namespace = of_pods[uid] or namespace_of(one.path)
            self.namespaces.add(namespace)
            chosen.append(namespace == self._namespace)
        return chosen


def _workload(workload: Workload, labels: Mapping[str, str]) -> LabelledWorkload:
    return LabelledWorkload(
        workload.path,
        workload.kind,
        labels["name"],
        workload.container_id,
        workload.pod_uid,
        workload.processes,
        workload.cpu_cores,
        workload.cpu_is_summed,
        workload.memory_bytes,
        workload.pressures,
        workload.activity,
        labels["namespace"],
        labels,
    )


def _labels(node: str, report: Report, pods: PodLookup) -> dict[str, Mapping[str, str]]:
    """The labels of each workload, by its path."""
    runtimes = runtimes_by_workload(report.processes)
    return {
        workload.path: labels_of(
            workload,
            node=node,
            runtime=runtimes.get(workload.path),
            placed=pods.of(node, workload.pod_uid, workload.container_id),
        )
        for workload in report.workloads
    }


def _admits(wanted: Filter, process: ProcessUsage, labels: Mapping[str, Mapping[str, str]]) -> bool:
    """A process has the labels of its workload, and the runtime that is its own."""
    if wanted.admits_all:
        return True
    if (found := labels.get(process.workload)) is None:
        return False
    return wanted.admits(
        found if process.runtime is None else {**found, "runtime": process.runtime}
    )
