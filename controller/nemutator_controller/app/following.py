"""Following, put together, with what it asks of the cluster."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import QueuedMissedPods
from nemutator_controller.app.followed_objects import cluster_objects
from nemutator_controller.app.leadership import by_the_leader
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.cluster.pods import NAMESPACE
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.following.endpoint import MissedPodsApi
from nemutator_controller.following.following import LiveMetadata
from nemutator_controller.following.missed import MissedPod, moment_of
from nemutator_controller.following.noticing import MissedPods
from nemutator_controller.following.records import Workload
from nemutator_controller.following.sql import SqlLivePolicies
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.pod_selection.watching import SelectorWatching
from nemutator_controller.policies.snapshot import (
    NO_POLICIES,
    NO_SEASON,
    InSeason,
    Policies,
    snapshot_of,
)
from nemutator_controller.tokens.reading import TokenReading

WRITER = "brain"


def following_part(
    context: BrainContext,
    tokens: TokenReading | None,
    queue: EvictionQueue | None,
    seasonal: Callable[[], InSeason] = lambda: NO_SEASON,
    selectors: SelectorWatching | None = None,
) -> Part:
    """*seasonal*: the names of policies whose seasons it is."""
    if context.cluster is None or queue is None:
        return Part(routes=MissedPodsApi({}).routes())
    evictions = QueuedMissedPods(queue, context.cluster.evictable, context.process)
    rules = ClusterRules(context.cluster, tokens, seasonal, selectors)
    missed: dict[str, MissedPod] = {}
    follow = partial(_follow, context, context.cluster, rules)
    notice = partial(_notice, context, context.cluster, rules, evictions, missed)
    return Part(
        routes=by_the_leader(
            MissedPodsApi(missed).routes(), context.cluster.leadership, reading=True
        ),
        tasks=[
            Task(TaskPhase.WORK, "follow policies in metadata", follow, alone=True),
            Task(TaskPhase.WORK, "notice missed pods", notice, alone=True),
        ],
    )


async def _follow(context: BrainContext, cluster: Cluster, rules: "ClusterRules") -> None:
    with cluster_objects(cluster, "following") as objects:
        await LiveMetadata(
            objects,
            rules,
            BrainJournal(SqlJournal(context.database)),
            SqlLivePolicies(context.database),
            process=context.process,
            fresh=lambda: uuid.uuid4().hex,
            per_minute=context.settings.live_writes_per_minute,
        ).run()


async def _notice(
    context: BrainContext,
    cluster: Cluster,
    rules: "ClusterRules",
    evictions: QueuedMissedPods,
    missed: dict[str, MissedPod],
) -> None:
    journal = BrainJournal(SqlJournal(context.database))
    with cluster_objects(cluster, "missed pods") as objects:
        await MissedPods(objects, rules, journal, evictions, missed, context.process).run()


@dataclass(slots=True)
class ClusterRules:
    """The `FollowedRules` of a cluster."""

    cluster: Cluster
    reading: TokenReading | None
    seasonal: Callable[[], InSeason]
    selectors: SelectorWatching | None = None
    _specs: Mapping[str, Any] | None = field(default=None, init=False)
    _policies: Policies | None = field(default=None, init=False)

    @property
    def policies(self) -> Policies | None:
        try:
            found = self.cluster.policies.snapshot().objects.values()
        except NotSyncedError:
            return None
        specs = {each.metadata.name: each.spec for each in found}
        # Their statuses are written as well, which changes nothing here.
        if self._policies is None or specs != self._specs:
            self._specs, self._policies = specs, snapshot_of(specs, self._policies or NO_POLICIES)
        return self._policies

    @property
    def in_season(self) -> InSeason:
        return self.seasonal()

    @property
    def tokens(self) -> tuple[str, KnownTokens | None]:
        return ("", None) if self.reading is None else (self.reading.tag, self.reading.known)

    def written_at(self, policy: str) -> float | None:
        found = self.cluster.policies.snapshot().get("", policy)
        if found is None or found.metadata.generation != 1:
            return None
        return moment_of(found.metadata.creation_timestamp)

    def unwanted_labels(self, workload: Workload) -> frozenset[str]:
        return frozenset() if self.selectors is None else self.selectors.of(workload)

    def service_selectors(self, namespace: str) -> Mapping[str, Mapping[str, str]] | None:
        try:
            services = self.cluster.objects.services.snapshot().by(NAMESPACE, namespace)
        except NotSyncedError:
            return None
        return {each.metadata.name: each.spec.selector for each in services if each.spec.selector}

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        try:
            found = self.cluster.namespaces.snapshot().get("", namespace)
        except NotSyncedError:
            return None
        return None if found is None else found.metadata.labels


@dataclass(frozen=True, slots=True)
class BrainJournal:
    """The `FollowingJournal`."""

    journal: SqlJournal

    async def add(self, decision: Decision) -> None:
        await self.journal.add([decision], writer=WRITER, state="answered")

    async def tombstones(self) -> Sequence[Tombstone]:
        return [kept.tombstone for kept in await self.journal.tombstones()]
