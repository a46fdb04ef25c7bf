"""Use that Prometheus has recorded, put together: what a new brain begins with, and what no agent reports."""

from dataclasses import dataclass

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.prometheus import prometheus
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.queries import WINDOW_S
from nemutator_controller.sizing.sources.source_learning import SourceLearning
from nemutator_controller.sizing.usages import Usages


@dataclass(frozen=True, slots=True)
class PodsByName:
    """The `PodKeys` of a cluster: what it knows itself, and of pods that have gone what kube-state-metrics says."""

    cluster: Cluster
    named: NamedOwners

    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        snapshot = self.cluster.watch.snapshot()
        found = None if snapshot is None else snapshot.pods.get(namespace, pod)
        if snapshot is None or found is None:
            return self.named.of(namespace, pod, container)
        owner = snapshot.owner(found)
        return ContainerKey(namespace, owner.kind, owner.name, container)


def usage_source_part(context: BrainContext, usages: Usages) -> Part:
    settings, process, cluster = context.settings, context.process, context.cluster
    source = prometheus(settings, process, cluster)
    # Off clusters what Prometheus knows has other names. Where several brains share the rows, what is learned
    # is saved with the points it was learned from, and these have none.
    if source is None or cluster is None or context.shared:
        return Part()
    if not settings.prometheus_warm_days and not settings.prometheus_usage:
        return Part()
    named = NamedOwners()
    learning = SourceLearning(
        PrometheusReading(source, named),
        PodsByName(cluster, named),
        usages,
        process,
        lambda: cluster.watch.snapshot() is not None,
        warm_days=settings.prometheus_warm_days,
        follows=settings.prometheus_usage,
        step_s=WINDOW_S,
    )
    return Part(tasks=[Task(TaskPhase.WORK, "learn from Prometheus", learning.run)])
