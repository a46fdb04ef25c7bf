"""Keeping aggressors aside, put together, with what it asks of seasons and of evictions."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import BY, ask_for
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.plans import COMES_BACK, UNOWNED
from nemutator_controller.evictions.ports import EvictionStore
from nemutator_controller.evictions.records import (
    OPEN,
    EvictionRequest,
    EvictionState,
    RequestedEviction,
)
from nemutator_controller.evictions.sql import SqlEvictions
from nemutator_controller.neighbours.aside_keeping import AsideKeeping, is_for_this
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import AskedAside, NeighbourWorkload, WantedAside

NOT_OURS = "pods of {} are not evicted for this"
SYSTEM = "kube-system"
UNDONE: frozenset[EvictionState] = frozenset({"failed", "expired", "cancelled"})
MOST_READ = 1_000
"""The newest requests of everybody, of which those for this are found."""
GONE = "it has ended, or is about to"


def aside_keeping(
    context: BrainContext,
    assessments: NeighbourAssessments,
    queue: EvictionQueue | None,
    seasons: BrainSeasons,
) -> AsideKeeping | None:
    """None: there is nothing to evict, or no season to say so."""
    cluster = context.cluster
    if cluster is None or queue is None:
        return None
    return AsideKeeping(
        AsideBySeason(seasons),
        assessments,
        QueuedAggressors(queue, cluster, context),
        context.process,
        minute_s=context.settings.neighbour_minute_s,
    )


@dataclass(frozen=True, slots=True)
class AsideBySeason:
    """The `AsideSeason`."""

    seasons: BrainSeasons

    def aside(self) -> WantedAside | None:
        if not self.seasons.switching.is_settled:
            return None
        behaviour = self.seasons.behaviour()
        if (wanted := behaviour.aggressors) is None:
            return None
        return WantedAside(
            policy=behaviour.aggressors_by, grade=wanted.grade, evicts=wanted.mode == "Apply"
        )


@dataclass(frozen=True, slots=True)
class QueuedAggressors:
    """The `AsideEvictions`: those of everybody, with their budgets and their journal."""

    queue: EvictionQueue
    cluster: Cluster
    context: BrainContext

    def why_not(self, uid: str) -> str:
        found = self.cluster.evictable.find(uid)
        if found is None:
            return GONE
        if found.namespace in (SYSTEM, self.context.settings.namespace):
            return NOT_OURS.format(found.namespace)
        if found.workload is None:
            return UNOWNED
        return COMES_BACK if found.workload.kind == "DaemonSet" else ""

    def waits(self, uid: str) -> bool:
        return uid in self.queue.uids

    async def ask(self, uid: str, reason: str) -> str:
        found = self.cluster.evictable.find(uid)
        if found is None or self.waits(uid):
            return ""
        selection = f"pod {found.namespace}/{found.name}"
        return await ask_for(self.queue, [found], reason, selection, self.context.process)

    async def cancel(self, request: str) -> None:
        await self.queue.cancel(request)

    async def before(self, since: float) -> Sequence[AskedAside]:
        return await asked_before(SqlEvictions(self.context.database), since)


async def asked_before(store: EvictionStore, since: float) -> Sequence[AskedAside]:
    listed = await store.requests(namespace=None, limit=MOST_READ)
    found: list[AskedAside] = []
    for request, _ in reversed(listed):
        if request.by != BY or request.at < since or not is_for_this(request.reason):
            continue
        if (progress := await store.request(request.id, namespace=None)) is not None:
            found += [
                asked
                for one in progress[1]
                if one.state not in UNDONE and (asked := _asked(request, one)) is not None
            ]
    return found


def _asked(request: EvictionRequest, one: RequestedEviction) -> AskedAside | None:
    if (workload := one.pod.workload) is None:
        return None
    return AskedAside(
        workload=NeighbourWorkload(workload.namespace, workload.kind, workload.name),
        uid=one.pod.uid,
        request=request.id,
        at=request.at,
        is_open=one.state in OPEN,
    )
