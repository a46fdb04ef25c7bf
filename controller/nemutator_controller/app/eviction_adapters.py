"""Adapters that give evictions what they ask for in their ports."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nemutator_common.names import ON_ROTATE
from nemutator_common.on_rotate import RESTART

from nemutator_controller.access.ports import PeopleReviewer
from nemutator_controller.access.token_reviews import ASK_S, UnknownNowError
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.evictions.records import (
    EvictablePod,
    EvictionRefusedError,
    NotAllowedNowError,
    NotEvictedError,
    OwningWorkload,
    PodGoneError,
)
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    ConflictError,
    DisruptionBudgetError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.reviews import User, Wish
from nemutator_controller.kube.writing import OnlyIf, Writer

NO_NEW_PODS_OF = frozenset({"Pod", "Node", "Job", "CronJob"})
"""Of what makes no new pod for one that is evicted; of a Job it would be another attempt."""

ENDED = frozenset({"Succeeded", "Failed"})

AT_ONCE = 500
"""Pods that are read in one turn of the event loop."""

MOST_ASKED = 50
"""Namespaces about which one person's permission is asked, one after another."""


@dataclass(frozen=True, slots=True)
class PodsToRestart:
    """The `RestartablePods` of evictions."""

    watch: ClusterWatch

    def now(self) -> Sequence[EvictablePod]:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return ()
        found = snapshot.pods.by(ON_ROTATE, RESTART)
        return [_evictable(pod, snapshot) for pod in found if pod.is_running]


@dataclass(frozen=True, slots=True)
class PodsToEvict:
    """The `EvictablePods`."""

    watch: ClusterWatch

    async def now(self) -> Sequence[EvictablePod] | None:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return None
        found: list[EvictablePod] = []
        for number, pod in enumerate(snapshot.pods.objects.values(), 1):
            if _goes_on(pod):
                found.append(_evictable(pod, snapshot))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    async def together(self, uids: Collection[str]) -> Sequence[EvictablePod] | None:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return None
        found: list[EvictablePod] = []
        looked_at: set[str] = set()
        for uid in uids:
            pod = None if uid in looked_at else snapshot.pod(uid)
            for each in () if pod is None else snapshot.together(pod):
                looked_at.add(each.metadata.uid)
                if _goes_on(each):
                    found.append(_evictable(each, snapshot))
                if len(looked_at) % AT_ONCE == 0:
                    await asyncio.sleep(0)
        return found

    def find(self, uid: str) -> EvictablePod | None:
        """The pod of that uid, if it goes on."""
        snapshot = self.watch.snapshot()
        pod = None if snapshot is None else snapshot.pod(uid)
        if snapshot is None or pod is None:
            return None
        return _evictable(pod, snapshot) if _goes_on(pod) else None


@dataclass(frozen=True, slots=True)
class KubeEvictions:
    """The `PodEvictions`."""

    writer: Writer
    announcer: Announcer
    reason: str
    """Of the Events about them."""

    async def evict(self, pod: EvictablePod) -> None:
        try:
            await self.writer.evict(pod.namespace, pod.name, only_if=OnlyIf(uid=pod.uid))
        except (NotFoundError, ConflictError) as error:
            raise PodGoneError from error
        except DisruptionBudgetError as error:
            raise NotAllowedNowError(str(error)) from error
        except KubeError as error:
            failure = NotEvictedError if error.retry else EvictionRefusedError
            raise failure(str(error)) from error
        except OverBudgetError as error:
            raise NotEvictedError(str(error)) from error

    def notify(self, pod: EvictablePod, note: str, *, warning: bool = False) -> None:
        news = News(
            "v1",
            "Pod",
            pod.namespace,
            pod.name,
            pod.uid,
            self.reason,
            note,
            "Warning" if warning else "Normal",
        )
        self.announcer.announce(news)


@dataclass(frozen=True, slots=True)
class ReviewedEvictionRights:
    """The `EvictionRights`."""

    reviewer: PeopleReviewer

    async def forbidden(self, user: User, namespaces: Collection[str]) -> Sequence[str]:
        try:
            async with asyncio.timeout(ASK_S):
                if await self._may(user, ""):
                    return ()
                # Who may evict in that many namespaces, one by one, is asked about them in parts.
                several = sorted(namespaces)
                asked = [each for each in several[:MOST_ASKED] if not await self._may(user, each)]
                return [*asked, *several[MOST_ASKED:]]
        except (KubeError, TimeoutError) as error:
            raise UnknownNowError(str(error) or "no answer in time") from error

    async def _may(self, user: User, namespace: str) -> bool:
        wish = Wish(verb="create", resource=PODS, subresource="eviction", namespace=namespace)
        return (await self.reviewer.access(user, wish)).allowed


def _goes_on(pod: Pod) -> bool:
    return pod.status.phase not in ENDED and not pod.metadata.deletion_timestamp


def _evictable(pod: Pod, snapshot: ClusterSnapshot) -> EvictablePod:
    meta, owner = pod.metadata, snapshot.owner(pod)
    return EvictablePod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        node=pod.spec.node_name,
        workload=None
        if owner.kind in NO_NEW_PODS_OF
        else OwningWorkload(meta.namespace, owner.kind, owner.name),
        is_ready=pod.status.is_ready,
        labels=meta.labels,
    )
