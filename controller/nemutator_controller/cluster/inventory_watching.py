"""What else informers see of the cluster, beside pods: nodes, workloads, and what scales, bounds and reaches them."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from nemutator_common.process import Process

from nemutator_controller.cluster.pods import NAMESPACE, by_namespace
from nemutator_controller.cluster.watched_objects import Objects, ObjectsSnapshot
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import (
    AUTOSCALERS,
    DISRUPTION_BUDGETS,
    LIMIT_RANGES,
    RESOURCE_QUOTAS,
    SERVICES,
    VERTICAL_AUTOSCALERS,
    WATCHED_NODES,
)
from nemutator_controller.kube.workload_objects import (
    WatchedWorkload,
)

T = TypeVar("T", bound=Object)


class ObjectsWatch:
    """The informers; those of *workloads*, by kind, are somebody else's, and shared."""

    def __init__(
        self,
        transport: Transport,
        process: Process,
        workloads: Mapping[str, Informer[WatchedWorkload]],
    ) -> None:
        common: dict[str, Any] = {"transport": transport, "process": process}
        self.nodes = Informer(WATCHED_NODES, **common)
        self.autoscalers = Informer(AUTOSCALERS, **common)
        # Its definition is installed by whoever wants it.
        self.vertical_autoscalers = Informer(VERTICAL_AUTOSCALERS, **common, may_be_absent=True)
        self.disruption_budgets = Informer(DISRUPTION_BUDGETS, **common)
        self.limit_ranges = Informer(LIMIT_RANGES, **common)
        self.resource_quotas = Informer(RESOURCE_QUOTAS, **common)
        self.services = Informer(SERVICES, **common, indexes={NAMESPACE: by_namespace})
        self._workloads = workloads

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """The tasks that keep it up to date, by name."""
        return {
            "watch nodes": self.nodes.run,
            "watch autoscalers": self.autoscalers.run,
            "watch vertical autoscalers": self.vertical_autoscalers.run,
            "watch disruption budgets": self.disruption_budgets.run,
            "watch limit ranges": self.limit_ranges.run,
            "watch resource quotas": self.resource_quotas.run,
            "watch services": self.services.run,
        }

    def snapshot(self) -> ObjectsSnapshot:
        unlisted: list[str] = []

        def listed(what: str, informer: Informer[T]) -> Objects[T]:
            try:
                return informer.snapshot().objects
            except NotSyncedError:
                unlisted.append(what)
                return {}

        return ObjectsSnapshot(
            nodes=listed("nodes", self.nodes),
            workloads={kind: listed(kind, each) for kind, each in self._workloads.items()},
            autoscalers=listed("horizontalpodautoscalers", self.autoscalers),
            vertical_autoscalers=listed("verticalpodautoscalers", self.vertical_autoscalers),
            disruption_budgets=listed("poddisruptionbudgets", self.disruption_budgets),
            limit_ranges=listed("limitranges", self.limit_ranges),
            resource_quotas=listed("resourcequotas", self.resource_quotas),
            services=listed("services", self.services),
            unlisted=tuple(unlisted),
        )
