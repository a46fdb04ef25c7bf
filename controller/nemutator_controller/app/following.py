"""Following, put together, with what it asks of the cluster."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.following.following import LiveMetadata
from nemutator_controller.following.records import (
    FollowedPod,
    PodChangedError,
    PodNotWrittenError,
)
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    ConflictError,
    InvalidError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.subscribing import Resync, Subscription
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import guards, render
from nemutator_controller.policies.snapshot import NO_POLICIES, Policies, snapshot_of
from nemutator_controller.tokens.reading import TokenReading

ENDED = frozenset({"Succeeded", "Failed"})
AT_ONCE = 500
"""Pods that are looked through in one turn of the event loop."""

WRITER = "brain"


def following_part(context: BrainContext, tokens: TokenReading | None) -> Part:
    if context.cluster is None:
        return Part()
    follow = partial(_follow, context, context.cluster, tokens)
    return Part(tasks=[Task(TaskPhase.WORK, "follow policies in pods", follow)])


async def _follow(context: BrainContext, cluster: Cluster, tokens: TokenReading | None) -> None:
    with cluster.watch.pods.subscribe("following") as changes:
        await LiveMetadata(
            ClusterPods(cluster, changes),
            ClusterRules(cluster, tokens),
            BrainJournal(SqlJournal(context.database)),
            process=context.process,
            fresh=lambda: uuid.uuid4().hex,
            per_minute=context.settings.live_writes_per_minute,
        ).run()


@dataclass(frozen=True, slots=True)
class ClusterPods:
    """The `FollowedPods`."""

    cluster: Cluster
    subscription: Subscription[Pod]

    def changed(self) -> Collection[FollowedPod] | None:
        waiting, snapshot = self.subscription.waiting(), self.cluster.watch.snapshot()
        if isinstance(waiting, Resync) or snapshot is None:
            return None
        last = {change.key: change.after for change in waiting}
        return [_followed(pod, snapshot) for pod in last.values() if pod and _goes_on(pod)]

    def everything(self) -> AsyncIterator[FollowedPod] | None:
        snapshot = self.cluster.watch.snapshot()
        if snapshot is None:
            return None
        # Of this very moment: what came before it is not among the changes that are still to come.
        return followed(self.cluster.watch.pods.snapshot().objects.values(), snapshot)

    async def read(self, pod: FollowedPod) -> tuple[Mapping[str, Any], str] | None:
        subject = pod.subject
        try:
            body = await self.cluster.reader.raw(PODS, subject.namespace, subject.name)
            document = msgspec.json.decode(body, type=dict[str, Any])
            metadata = document["metadata"]
            uid, version = metadata["uid"], metadata["resourceVersion"]
        except NotFoundError:
            return None
        except KubeError as error:
            raise PodNotWrittenError(str(error), again=True) from error
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise PodNotWrittenError("the answer is no pod", again=True) from error
        # Another pod may have its name by now.
        return (document, version) if uid == subject.uid else None

    async def write(
        self, pod: FollowedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        subject = pod.subject
        operations = [*guards(document, edits, "Pod"), *render(document, edits, "Pod")]
        only_if = OnlyIf(uid=subject.uid, resource_version=version)
        try:
            await self.cluster.writer.json_patch(
                PODS, subject.namespace, subject.name, operations, only_if=only_if
            )
        except (ConflictError, NotFoundError) as error:
            raise PodChangedError(str(error)) from error
        except InvalidError as error:
            # A failed test and a value that is not allowed have the same status, 422.
            now = await self.read(pod)
            if now is None or now[1] != version:
                raise PodChangedError(str(error)) from error
            raise PodNotWrittenError(str(error), again=False) from error
        except OverBudgetError as error:
            raise PodNotWrittenError(str(error), again=True) from error
        except KubeError as error:
            raise PodNotWrittenError(str(error), again=error.retry) from error

    def notify(self, pod: FollowedPod, note: str) -> None:
        subject = pod.subject
        where = ("v1", "Pod", subject.namespace, subject.name, subject.uid)
        self.cluster.announcer.announce(News(*where, "LiveMetadata", note, "Warning"))


@dataclass(slots=True)
class ClusterRules:
    """The `FollowedRules` of a cluster."""

    cluster: Cluster
    reading: TokenReading | None
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
    def tokens(self) -> tuple[str, KnownTokens | None]:
        return ("", None) if self.reading is None else (self.reading.tag, self.reading.known)

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


async def followed(pods: Iterable[Pod], snapshot: ClusterSnapshot) -> AsyncIterator[FollowedPod]:
    """Those of *pods* that go on, each when it is asked for."""
    for number, pod in enumerate(pods, 1):
        if _goes_on(pod):
            yield _followed(pod, snapshot)
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)


def _goes_on(pod: Pod) -> bool:
    return pod.status.phase not in ENDED and not pod.metadata.deletion_timestamp


def _followed(pod: Pod, snapshot: ClusterSnapshot) -> FollowedPod:
    meta, owner = pod.metadata, snapshot.owner(pod)
    managed = meta.controller is not None
    return FollowedPod(
        subject=Subject(
            api_version="v1",
            kind="Pod",
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            owner_kind=owner.kind if managed else "",
            owner_name=owner.name if managed else "",
        ),
        version=meta.resource_version,
        stamp=meta.annotations.get(names.MUTATION, ""),
        labels=meta.labels,
    )
