"""Use that others have recorded, put together: what a new brain begins with, and what no agent reports."""

from dataclasses import dataclass

from nemutator_common.process import Process

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.datadog import datadog_reading
from nemutator_controller.app.http_accounts import wrong
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.prometheus import prometheus
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.ports import UsageSource
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.queries import WINDOW_S
from nemutator_controller.sizing.sources.source_learning import SourceLearning
from nemutator_controller.sizing.usages import Usages


@dataclass(frozen=True, slots=True)
class PodsByName:
    """The `PodKeys` of a cluster: what it knows itself, and of pods that have gone what the source says."""

    cluster: Cluster
    named: NamedOwners

    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        snapshot = self.cluster.watch.snapshot()
        found = None if snapshot is None else snapshot.pods.get(namespace, pod)
        if snapshot is None or found is None:
            return self.named.of(namespace, pod, container)
        owner = snapshot.owner(found)
        return ContainerKey(namespace, owner.kind, owner.name, container)


@dataclass(frozen=True, slots=True)
class ChosenSource:
    name: str
    source: UsageSource
    warm_days: int
    follows: bool


@dataclass(slots=True)
class LearningTurn:
    """Of the brain that learns: of several that share a database, one does."""

    number: int | None

    def now(self) -> int | None:
        return self.number

    def become(self, number: int | None) -> None:
        self.number = number


def usage_source_part(context: BrainContext, usages: Usages, turn: LearningTurn) -> Part:
    named = NamedOwners()
    cluster = context.cluster
    chosen = chosen_source(context.settings, context.process, cluster, named)
    # Off clusters what others know has other names.
    if chosen is None or cluster is None:
        return Part()
    learning = SourceLearning(
        chosen.source,
        PodsByName(cluster, named),
        usages,
        context.process,
        lambda: cluster.watch.snapshot() is not None,
        turn.now,
        warm_days=chosen.warm_days,
        follows=chosen.follows,
        step_s=WINDOW_S,
    )
    return Part(tasks=[Task(TaskPhase.WORK, f"learn from {chosen.name}", learning.run)])


def chosen_source(
    settings: BrainSettings, process: Process, cluster: Cluster | None, named: NamedOwners
) -> ChosenSource | None:
    """The one that use is learned from; None: from none. Raises `OperatorError`."""
    found = []
    asked = prometheus(settings, process, cluster)
    if asked is not None and (settings.prometheus_warm_days or settings.prometheus_usage):
        days, follows = settings.prometheus_warm_days, settings.prometheus_usage
        found.append(ChosenSource("Prometheus", PrometheusReading(asked, named), days, follows))
    datadog = datadog_reading(settings, process, named)
    if datadog is not None and (settings.datadog_warm_days or settings.datadog_usage):
        days, follows = settings.datadog_warm_days, settings.datadog_usage
        found.append(ChosenSource("Datadog", datadog, days, follows))
    if len(found) > 1:
        what = "what containers used would be learned twice, from Prometheus, too"
        raise wrong("datadog", what, "set prometheus_warm_days=0 and prometheus_usage=false")
    return found[0] if found else None
