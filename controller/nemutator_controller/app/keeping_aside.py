"""Keeping aggressors aside, put together, with what it asks of seasons and of evictions."""

from dataclasses import dataclass

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import ask_for
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.plans import COMES_BACK, UNOWNED
from nemutator_controller.neighbours.aside_keeping import AsideKeeping
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import WantedAside

NOT_OURS = "pods of {} are not evicted for this"
SYSTEM = "kube-system"
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
