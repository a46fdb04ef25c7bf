"""Updating, put together: SizingPolicies give advice to pods that run."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nemutator_common.clocks import Clock

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.app.hourly import HourlyOfContainers
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.app.sized_pods import ClusterSizedPods, SizedPodEvictor
from nemutator_controller.app.sizing import LeakingMemory
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.quantities import Quantity, parse_quantity
from nemutator_controller.policies.spec_watching import SpecCheck, WatchedSpecs, by_name, itself
from nemutator_controller.sizing.all_advice import gather_advice
from nemutator_controller.sizing.documents import Advice
from nemutator_controller.sizing.hourly.stepping import HourlyRequests
from nemutator_controller.sizing.ports import GrowingMemory
from nemutator_controller.sizing.usages import Usages
from nemutator_controller.updating.endpoint import SizingApi
from nemutator_controller.updating.evicting import SizingEvictions
from nemutator_controller.updating.model import SoundSizing, sizing_of
from nemutator_controller.updating.records import (
    RESOURCES,
    AmountAdvice,
    ContainerAdvice,
    SizedWorkload,
)
from nemutator_controller.updating.resize_writing import ResizeWriter
from nemutator_controller.updating.resizing import RunningResizes
from nemutator_controller.updating.telling import SizingStatuses

SIZINGS = SpecCheck(sizing_of, itself, 1_000, "policies: merge some")


def updating_part(
    context: BrainContext,
    usages: Usages,
    findings: Findings,
    replicas: AdmissionReplicas,
    seasons: BrainSeasons,
    hourly: HourlyRequests,
) -> Part:
    cluster, process = context.cluster, context.process
    if cluster is None:
        return Part(routes=SizingApi(dict, dict).routes())
    informer = cluster.sizing_policies
    policies = WatchedSizings(informer, by_name, SIZINGS, seasons.in_season("SizingPolicy"))
    pods, journal = ClusterSizedPods(cluster), BrainJournal(SqlJournal(context.database))
    resizes = RunningResizes(
        pods,
        policies,
        AdviceOfUse(usages, cluster, LeakingMemory(findings), process.clock),
        journal,
        HeardReplicas(replicas),
        SizingEvictions(
            SizedPodEvictor(
                cluster.writer,
                cluster.announcer,
                lambda: cluster.objects.snapshot().nodes.values(),
            ),
            process,
            held=seasons.holds_evictions,
        ),
        ResizeWriter(pods, journal, process, fresh=lambda: uuid.uuid4().hex),
        process=process,
        hourly=HourlyOfContainers(hourly),
        per_minute=context.settings.resizes_per_minute,
        own_namespace=context.settings.namespace,
        held=seasons.holds_resizes,
    )
    statuses = SizingStatuses(
        informer,
        cluster.writer,
        lambda: resizes.progress,
        policies.faulty,
        process,
        seasons.forces("SizingPolicy"),
    )
    return Part(
        routes=SizingApi(lambda: resizes.progress, policies.faulty).routes(),
        tasks=[
            Task(TaskPhase.WATCH, "watch sizing policies", informer.run),
            Task(TaskPhase.WORK, "hourly requests", hourly.run, alone=True),
            Task(TaskPhase.WORK, "resize pods", resizes.run, alone=True),
            Task(TaskPhase.WORK, "sizing policies' statuses", statuses.run, alone=True),
        ],
    )


@dataclass(frozen=True, slots=True)
class HeardReplicas:
    """The `ProvenWebhook`: replicas of admission ask the brain every few seconds."""

    replicas: AdmissionReplicas

    def is_alive(self) -> bool:
        return self.replicas.is_heard()


@dataclass(slots=True)
class WatchedSizings(WatchedSpecs[str, str, SoundSizing]):
    """The `KnownSizings` of a cluster."""

    in_season: Callable[[], frozenset[str]]


@dataclass(frozen=True, slots=True)
class AdviceOfUse:
    """The `GivenAdvice`."""

    usages: Usages
    cluster: Cluster
    growing: GrowingMemory
    clock: Clock

    async def now(self) -> Mapping[SizedWorkload, Mapping[str, ContainerAdvice]]:
        advice = await gather_advice(
            self.usages, self.cluster.requests, growing=self.growing, clock=self.clock
        )
        found: defaultdict[SizedWorkload, dict[str, ContainerAdvice]] = defaultdict(dict)
        for each in advice.items:
            workload = (each.namespace, each.owner_kind, each.owner)
            found[workload][each.container] = container_advice(each)
        return found


def container_advice(advice: Advice) -> ContainerAdvice:
    amounts = {
        resource: AmountAdvice(
            target=parse_quantity(text),
            lower=_bound(getattr(advice.lower, resource)),
            upper=_bound(getattr(advice.upper, resource)),
        )
        for resource in RESOURCES
        if (text := getattr(advice.requests, resource)) is not None
    }
    return ContainerAdvice(
        is_firm=advice.state == "firm",
        reason=advice.reason,
        last_at=advice.last_at,
        amounts=amounts,
        strategy=advice.strategy,
    )


def _bound(text: str | None) -> Quantity | None:
    return None if text is None else parse_quantity(text)
