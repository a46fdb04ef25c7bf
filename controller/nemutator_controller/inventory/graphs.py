"""Workloads as a graph: what makes, scales, protects, reaches and runs what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.inventory.documents import Used, now_of, used_of
from nemutator_controller.inventory.model import ClusterFigures, Tally, WorkloadFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    id: str
    kind: str
    namespace: str
    name: str
    requested: Used | None = None
    used: Used | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    source: str
    target: str
    relation: str
    """`makes`, `runs`, `scales`, `protects` or `reaches`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadGraph:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "WorkloadGraph"
    now: float
    counted_at: float
    next: str
    remaining: int
    nodes: list[GraphNode]
    edges: list[GraphEdge]


def graph_of(
    workloads: Iterable[WorkloadFigures], figures: ClusterFigures
) -> tuple[list[GraphNode], list[GraphEdge]]:
    nodes: dict[str, GraphNode] = {}
    edges: list[GraphEdge] = []
    for each in workloads:
        for node, edge in _parts(each, figures):
            nodes.setdefault(node.id, node)
            if edge is not None:
                edges.append(edge)
    return list(nodes.values()), edges


def _parts(
    each: WorkloadFigures, figures: ClusterFigures
) -> Iterator[tuple[GraphNode, GraphEdge | None]]:
    namespace, kind, name = each.key
    itself = _node(kind, namespace, name, each.tally)
    yield itself, None
    for counted in each.pods:
        meta = counted.pod.metadata
        pod = _node("Pod", meta.namespace, meta.name, None)
        yield pod, None if pod.id == itself.id else GraphEdge(itself.id, pod.id, "makes")
        if on := counted.pod.spec.node_name:
            known = figures.nodes.get(on)
            node = _node("Node", "", on, None if known is None else known.tally)
            yield node, GraphEdge(node.id, pod.id, "runs")
    for scaler, word in (
        (each.autoscaler, "HorizontalPodAutoscaler"),
        (each.vertical_autoscaler, "VerticalPodAutoscaler"),
    ):
        if scaler is not None:
            made = _node(word, namespace, scaler.metadata.name, None)
            yield made, GraphEdge(made.id, itself.id, "scales")
    if each.disruption_budget is not None:
        budget = _node("PodDisruptionBudget", namespace, each.disruption_budget.metadata.name, None)
        yield budget, GraphEdge(budget.id, itself.id, "protects")
    labels = each.pods[0].pod.metadata.labels if each.pods else {}
    for service in figures.services_of(namespace):
        if service.selects(labels):
            made = _node("Service", namespace, service.metadata.name, None)
            yield made, GraphEdge(made.id, itself.id, "reaches")


def _node(kind: str, namespace: str, name: str, tally: Tally | None) -> GraphNode:
    return GraphNode(
        id=f"{kind}/{namespace}/{name}" if namespace else f"{kind}/{name}",
        kind=kind,
        namespace=namespace,
        name=name,
        requested=None if tally is None else used_of(tally.requests),
        used=None if tally is None else now_of(tally),
    )
