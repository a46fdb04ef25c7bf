"""The pods and workloads that follow policies, in one watched cluster."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
from nemutator_common import names

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.cluster.pods import ClusterSnapshot, PodOwner
from nemutator_controller.following.records import (
    FollowedObject,
    ObjectChangedError,
    ObjectNotWrittenError,
)
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    ConflictError,
    InvalidError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.objects import Metadata, Object, Pod
from nemutator_controller.kube.resources import PODS, WORKLOADS, Resource
from nemutator_controller.kube.store import Change
from nemutator_controller.kube.subscribing import Resync, Subscription
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.patches import guards, render

T = TypeVar("T", bound=Object)

ENDED = frozenset({"Succeeded", "Failed"})
AT_ONCE = 500
"""Pods that are looked through in one turn of the event loop."""

RESOURCES: Final[Mapping[str, Resource[Any]]] = {each.kind: each for each in (PODS, *WORKLOADS)}


@dataclass(frozen=True, slots=True)
class ClusterObjects:
    """The `FollowedObjects`."""

    cluster: Cluster
    pods: Subscription[Pod]
    workloads: Mapping[str, Subscription[WatchedWorkload]]
    """By kind."""

    def changed(self) -> Collection[FollowedObject] | None:
        snapshot, pods = self.cluster.watch.snapshot(), self.pods.waiting()
        is_complete = True
        found: list[FollowedObject] = []
        if snapshot is None or isinstance(pods, Resync):
            is_complete = False
        else:
            found += [_of_pod(pod, snapshot) for pod in _newest(pods) if _goes_on(pod)]
        for kind, subscription in self.workloads.items():
            if isinstance(workloads := subscription.waiting(), Resync):
                is_complete = False
            else:
                found += [
                    _of_workload(each, kind) for each in _newest(workloads) if _is_first(each)
                ]
        return found if is_complete else None

    def everything(self) -> AsyncIterator[FollowedObject] | None:
        snapshot = self.cluster.watch.snapshot()
        if snapshot is None:
            return None
        # Of this very moment: what came before it is not among the changes that are still to come.
        pods = self.cluster.watch.pods.snapshot().objects.values()
        workloads: dict[str, Iterable[Object]] = {}
        for kind, informer in self.cluster.workloads.items():
            # Those that are not listed yet are changes, once they are.
            with contextlib.suppress(NotSyncedError):
                workloads[kind] = informer.snapshot().objects.values()
        return followed(pods, snapshot, workloads)

    async def read(self, one: FollowedObject) -> tuple[Mapping[str, Any], str] | None:
        subject = one.subject
        try:
            body = await self.cluster.reader.raw(
                RESOURCES[subject.kind], subject.namespace, subject.name
            )
            document = msgspec.json.decode(body, type=dict[str, Any])
            metadata = document["metadata"]
            uid, version = metadata["uid"], metadata["resourceVersion"]
        except NotFoundError:
            return None
        except KubeError as error:
            raise ObjectNotWrittenError(str(error), again=True) from error
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise ObjectNotWrittenError("the answer is no object", again=True) from error
        # Another object may have its name by now.
        return (document, version) if uid == subject.uid else None

    async def write(
        self, one: FollowedObject, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        subject, kind = one.subject, one.subject.kind
        operations = [*guards(document, edits, kind), *render(document, edits, kind)]
        only_if = OnlyIf(uid=subject.uid, resource_version=version)
        try:
            await self.cluster.writer.json_patch(
                RESOURCES[kind], subject.namespace, subject.name, operations, only_if=only_if
            )
        except (ConflictError, NotFoundError) as error:
            raise ObjectChangedError(str(error)) from error
        except InvalidError as error:
            # A failed test and a value that is not allowed have the same status, 422.
            now = await self.read(one)
            if now is None or now[1] != version:
                raise ObjectChangedError(str(error)) from error
            raise ObjectNotWrittenError(str(error), again=False) from error
        except OverBudgetError as error:
            raise ObjectNotWrittenError(str(error), again=True) from error
        except KubeError as error:
            raise ObjectNotWrittenError(str(error), again=error.retry) from error

    def there(self, uids: Collection[str]) -> AbstractSet[str]:
        snapshot = self.cluster.watch.snapshot()
        return set() if snapshot is None else {uid for uid in uids if snapshot.pod(uid) is not None}

    def notify(self, one: FollowedObject, note: str, *, reason: str = "LiveMetadata") -> None:
        subject = one.subject
        where = (subject.api_version, subject.kind, subject.namespace, subject.name, subject.uid)
        self.cluster.announcer.announce(News(*where, reason, note, "Warning"))


@contextlib.contextmanager
def cluster_objects(cluster: Cluster, subscriber: str) -> Iterator[ClusterObjects]:
    with contextlib.ExitStack() as stack:
        pods = stack.enter_context(cluster.watch.pods.subscribe(subscriber))
        workloads = {
            kind: stack.enter_context(informer.subscribe(subscriber))
            for kind, informer in cluster.workloads.items()
        }
        yield ClusterObjects(cluster, pods, workloads)


def followed(
    pods: Iterable[Pod], snapshot: ClusterSnapshot, workloads: Mapping[str, Iterable[Object]]
) -> AsyncIterator[FollowedObject]:
    """Those of *pods* that go on, and of *workloads*, given by kind, that no workload makes; each when it is
    asked for."""
    return _in_turns(
        itertools.chain(
            (_of_pod(pod, snapshot) if _goes_on(pod) else None for pod in pods),
            (
                _of_workload(each, kind) if _is_first(each) else None
                for kind, several in workloads.items()
                for each in several
            ),
        )
    )


async def _in_turns(objects: Iterable[FollowedObject | None]) -> AsyncIterator[FollowedObject]:
    for number, one in enumerate(objects, 1):
        if one is not None:
            yield one
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)


def _newest(changes: Iterable[Change[T]]) -> Iterator[T]:
    """Each object that has changed and is there still, as it is now."""
    last = {change.key: change.after for change in changes}
    return (each for each in last.values() if each is not None)


def _goes_on(pod: Pod) -> bool:
    return pod.status.phase not in ENDED and not pod.metadata.deletion_timestamp


def _is_first(workload: Object) -> bool:
    """Whether no workload makes it, which follows itself. What an operator makes follows, too: where that one
    writes its own value again and again, it is given way to."""
    maker = workload.metadata.controller
    made = maker is not None and maker.kind in RESOURCES
    return not made and not workload.metadata.deletion_timestamp


def _of_pod(pod: Pod, snapshot: ClusterSnapshot) -> FollowedObject:
    owner = snapshot.owner(pod) if pod.metadata.controller is not None else PodOwner("", "")
    return _of(pod.metadata, PODS, owner)


def _of_workload(workload: Object, kind: str) -> FollowedObject:
    return _of(workload.metadata, RESOURCES[kind], PodOwner(kind, workload.metadata.name))


def _of(meta: Metadata, resource: Resource[Any], owner: PodOwner) -> FollowedObject:
    return FollowedObject(
        subject=Subject(
            api_version=resource.api_version,
            kind=resource.kind,
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            owner_kind=owner.kind,
            owner_name=owner.name,
        ),
        version=meta.resource_version,
        stamp=meta.annotations.get(names.MUTATION, ""),
        labels=meta.labels,
        created=meta.creation_timestamp,
    )
