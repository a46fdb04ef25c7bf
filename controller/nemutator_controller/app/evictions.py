"""Evictions that people ask for, put together."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.eviction_adapters import PodsToEvict
from nemutator_controller.app.leadership import by_the_leader, resumed
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.evictions.endpoint import EvictionsApi, NoClusterApi
from nemutator_controller.evictions.evicting import EvictionQueue, TooManyEvictionsError
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace
from nemutator_controller.evictions.records import EvictablePod, EvictionRequest
from nemutator_controller.evictions.sql import SqlEvictions
from nemutator_controller.following.records import FollowedObject

KEPT = 10_000
"""Requests."""

BY = "nemutator"
"""Who asks for the evictions that policies want."""

WITHIN_S = 3_600.0
LONGEST_REASON = 200

REQUESTS = RetentionTask(
    task="eviction retention",
    every_s=300.0,
    step=100,
    kept=names.EVICTION_REQUESTS,
    dropped=names.EVICTION_REQUESTS_DROPPED,
)


def eviction_queue(context: BrainContext) -> EvictionQueue | None:
    """None: there is no cluster."""
    settings, cluster = context.settings, context.cluster
    if cluster is None:
        return None
    budgets = EvictionBudgets(
        per_minute=settings.evictions_per_minute,
        node_per_minute=settings.evictions_per_node,
        workload_at_once=settings.evictions_per_workload,
    )
    return EvictionQueue(
        cluster.evictable,
        SqlEvictions(context.database),
        cluster.evictions,
        EvictionPace(budgets),
        context.process,
    )


def evictions_part(context: BrainContext, queue: EvictionQueue | None) -> Part:
    settings, cluster, process = context.settings, context.cluster, context.process
    if cluster is None or queue is None:
        return Part(routes=NoClusterApi().routes())
    store = SqlEvictions(context.database)
    api = EvictionsApi(
        queue, store, cluster.evictable, cluster.eviction_rights, fresh=fresh_id, process=process
    )
    limit = RetentionLimit(seconds=settings.journal_s, records=KEPT)
    retention = Retention(store, limit, REQUESTS, process=process)
    return Part(
        routes=by_the_leader(api.routes(), cluster.leadership),
        restore=queue.restore,
        tasks=[
            Task(TaskPhase.SAVE, REQUESTS.task, retention.run),
            Task(
                TaskPhase.WORK,
                "evict pods",
                resumed(queue.resume, queue.run, context.process),
                alone=True,
            ),
        ],
    )


@dataclass(frozen=True, slots=True)
class QueuedMissedPods:
    """The `MissedEvictions`."""

    queue: EvictionQueue
    pods: PodsToEvict
    process: Process

    async def ask(self, pod: FollowedObject, reason: str) -> bool:
        found = self.pods.find(pod.subject.uid)
        if found is None or found.workload is None or found.uid in self.queue.uids:
            return False
        return bool(await ask_for(self.queue, [found], reason, str(pod), self.process))


async def ask_for(
    queue: EvictionQueue,
    pods: Sequence[EvictablePod],
    reason: str,
    selection: str,
    process: Process,
) -> str:
    """What policies want to have evicted: the id of the request; empty: there is no room for it. Raises
    `StoreUnavailableError`."""
    now = process.clock.now()
    request = EvictionRequest(
        id=fresh_id(),
        at=now,
        until=now + WITHIN_S,
        by=BY,
        reason=reason[:LONGEST_REASON],
        selection=selection,
    )
    try:
        await queue.add(request, pods)
    except TooManyEvictionsError:
        return ""
    return request.id


def fresh_id() -> str:
    return uuid.uuid4().hex[:12]
