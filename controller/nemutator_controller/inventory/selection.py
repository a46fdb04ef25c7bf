"""Which nodes and workloads a request wants, and in which order."""

from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_controller.inventory.documents import WorkloadItem
from nemutator_controller.inventory.model import WorkloadFigures
from nemutator_controller.inventory.node_documents import NodeItem
from nemutator_controller.kube.label_selectors import Selector
from nemutator_controller.list_pages import Position
from nemutator_controller.queries import is_called

EVERYTHING = Selector()

NODE_ORDERS = ("name", "cpu", "memory", "requested", "pods", "trouble")
WORKLOAD_ORDERS = ("name", "cpu", "memory", "waste", "network", "requests", "restarts")

NODE_FIELDS = ("name", "ready", "stale", "unschedulable", "pods")
WORKLOAD_FIELDS = (
    "name",
    "namespace",
    "kind",
    "pods",
    "ready",
    "pending",
    "restarts",
    "oom",
    "autoscaled",
    "budgeted",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    namespace: str | None = None
    labels: Selector = EVERYTHING
    fields: Selector = EVERYTHING
    """Over `NODE_FIELDS` or `WORKLOAD_FIELDS`."""
    search: tuple[str, ...] = ()
    """Small letters: each is a part of a node's name, or of a workload's NAMESPACE/NAME."""

    def has_node(self, item: NodeItem) -> bool:
        if not is_called(item.name, self.search):
            return False
        return self.labels.matches(item.labels) and (
            self.fields is EVERYTHING or self.fields.matches(_node_fields(item))
        )

    def has_workload(self, figures: WorkloadFigures) -> bool:
        namespace, _, name = figures.key
        if self.namespace not in (None, namespace) or not self._is_called(namespace, name):
            return False
        return self._has_labels(figures) and (
            self.fields is EVERYTHING or self.fields.matches(_workload_fields(figures))
        )

    def has_workload_item(self, item: WorkloadItem) -> bool:
        """The same of one that another cluster shows, which does not say what its programs are."""
        if self.namespace not in (None, item.namespace):
            return False
        if not self._is_called(item.namespace, item.name):
            return False
        return self.labels.matches(item.labels) and (
            self.fields is EVERYTHING or self.fields.matches(_workload_item_fields(item))
        )

    def _is_called(self, namespace: str, name: str) -> bool:
        return is_called(f"{namespace}/{name}", self.search)

    def _has_labels(self, figures: WorkloadFigures) -> bool:
        """A program has the labels of its group, and the runtime that is its own."""
        if self.labels.matches(figures.labels):
            return True
        runtimes = {each.runtime for each in figures.programs} - {None}
        return any(
            self.labels.matches({**figures.labels, "runtime": str(each)}) for each in runtimes
        )


def node_position(item: NodeItem, order: str) -> Position:
    match order:
        case "cpu":
            value: float = item.used.cpu_cores or 0.0
        case "memory":
            value = item.used.memory_bytes or 0
        case "requested":
            value = item.requested.cpu_cores or 0.0
        case "pods":
            value = item.pods.count
        case "trouble":
            value = _trouble(item)
        case _:
            value = 0
    return float(value), (item.name,)


def _trouble(item: NodeItem) -> float:
    """A node that is not ready comes before one that is silent, and that before those where work waits, by how much."""
    if item.ready is False:
        return 300
    if item.stale:
        return 200
    waiting = None if item.sums is None else item.sums.waiting
    return 0 if waiting is None else max(waiting.cpu or 0, waiting.memory or 0, waiting.io or 0)


def workload_position(figures: WorkloadFigures, order: str) -> Position:
    tally, waste = figures.tally, figures.waste
    match order:
        case "cpu":
            value: float = tally.cpu_cores or 0.0
        case "memory":
            value = tally.memory_bytes or 0
        case "waste":
            value = 0 if waste is None else waste.cpu_millis
        case "network":
            value = (tally.network_received or 0.0) + (tally.network_sent or 0.0)
        case "requests":
            value = tally.requests.cpu_millis
        case "restarts":
            value = tally.restarts
        case _:
            value = 0
    return float(value), figures.key


def workload_item_position(item: WorkloadItem, order: str) -> Position:
    use, network = item.use.now, item.network
    match order:
        case "cpu":
            value: float = use.cpu_cores or 0.0
        case "memory":
            value = use.memory_bytes or 0
        case "waste":
            value = (item.waste.cpu_cores or 0.0) * 1000
        case "network":
            value = (network.received or 0.0) + (network.sent or 0.0)
        case "requests":
            value = (item.requests.cpu_cores or 0.0) * 1000
        case "restarts":
            value = item.restarts
        case _:
            value = 0
    return float(value), (item.namespace, item.kind, item.name)


def _workload_item_fields(item: WorkloadItem) -> Mapping[str, str]:
    replicas = item.replicas
    return {
        "name": item.name,
        "namespace": item.namespace,
        "kind": item.kind,
        "pods": str(replicas.pods),
        "ready": _word(replicas.wanted is None or replicas.ready >= replicas.wanted),
        "pending": str(replicas.pending),
        "restarts": str(item.restarts),
        "oom": str(item.oom_ended),
        "autoscaled": _word(item.autoscaler is not None),
        "budgeted": _word(item.disruption_budget is not None),
    }


def _node_fields(item: NodeItem) -> Mapping[str, str]:
    return {
        "name": item.name,
        "ready": _word(item.ready is not False),
        "stale": _word(item.stale),
        "unschedulable": _word(item.unschedulable),
        "pods": str(item.pods.count),
    }


def _workload_fields(figures: WorkloadFigures) -> Mapping[str, str]:
    tally = figures.tally
    namespace, kind, name = figures.key
    return {
        "name": name,
        "namespace": namespace,
        "kind": kind,
        "pods": str(tally.pods),
        "ready": _word(figures.wanted is None or figures.ready >= figures.wanted),
        "pending": str(tally.pending),
        "restarts": str(tally.restarts),
        "oom": str(tally.oom_ended),
        "autoscaled": _word(figures.autoscaler is not None),
        "budgeted": _word(figures.disruption_budget is not None),
    }


def _word(value: bool) -> str:
    return "true" if value else "false"
