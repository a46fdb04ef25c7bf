"""Evictions that people ask for, put together."""

import uuid

from nemutator_common import names

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.evictions.endpoint import EvictionsApi, NoClusterApi
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace
from nemutator_controller.evictions.sql import SqlEvictions

KEPT = 10_000
"""Requests."""

REQUESTS = RetentionTask(
    task="eviction retention",
    every_s=300.0,
    step=100,
    kept=names.EVICTION_REQUESTS,
    dropped=names.EVICTION_REQUESTS_DROPPED,
)


def evictions_part(context: BrainContext) -> Part:
    settings, cluster, process = context.settings, context.cluster, context.process
    if cluster is None:
        return Part(routes=NoClusterApi().routes())
    store = SqlEvictions(context.database)
    budgets = EvictionBudgets(
        per_minute=settings.evictions_per_minute,
        node_per_minute=settings.evictions_per_node,
        workload_at_once=settings.evictions_per_workload,
    )
    queue = EvictionQueue(
        cluster.evictable, store, cluster.evictions, EvictionPace(budgets), process
    )
    api = EvictionsApi(
        queue, store, cluster.evictable, cluster.eviction_rights, fresh=fresh_id, process=process
    )
    limit = RetentionLimit(seconds=settings.journal_s, records=KEPT)
    retention = Retention(store, limit, REQUESTS, process=process)
    return Part(
        routes=api.routes(),
        restore=queue.restore,
        tasks=[
            Task(TaskPhase.SAVE, REQUESTS.task, retention.run),
            Task(TaskPhase.WORK, "evict pods", queue.run),
        ],
    )


def fresh_id() -> str:
    return uuid.uuid4().hex[:12]
