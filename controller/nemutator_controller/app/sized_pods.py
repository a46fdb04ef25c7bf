"""The pods that SizingPolicies resize, in one watched cluster."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.scaled_workloads import followed, gives
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.following.missed import moment_of
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.node_objects import WatchedNode
from nemutator_controller.kube.objects import Pod, PodSpec, Resources
from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.workload_objects import Autoscaler, VerticalAutoscaler
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.patches import guards, render
from nemutator_controller.mutations.qos import quantity
from nemutator_controller.mutations.skips import skips_of
from nemutator_controller.updating.node_room import PodNeeds, added, lacking, larger
from nemutator_controller.updating.records import (
    RESOURCES,
    NotResizedError,
    PodChangedError,
    PodSurroundings,
    ResizeState,
    SizedContainer,
    SizedPod,
)

AT_ONCE = 500
"""Pods that are read in one turn of the event loop."""

NEEDED = frozenset({"horizontalpodautoscalers", "verticalpodautoscalers", "nodes"})
"""Of what must be listed before anything is decided."""


@dataclass(frozen=True, slots=True)
class ClusterSizedPods:
    """The `SizedPods`."""

    cluster: Cluster

    async def now(self) -> Sequence[SizedPod] | None:
        snapshot = self.cluster.watch.snapshot()
        if snapshot is None:
            return None
        found: list[SizedPod] = []
        for number, pod in enumerate(snapshot.pods.objects.values(), 1):
            if pod.is_running:
                found.append(sized_pod(pod, snapshot))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    def around(self, pod: SizedPod) -> PodSurroundings | None:
        objects = self.cluster.objects.snapshot()
        if NEEDED & set(objects.unlisted):
            return None
        node = objects.nodes.get(f"/{pod.node}")
        room = {} if node is None else node.status.allocatable
        return PodSurroundings(
            autoscaled=frozenset(autoscaled(pod, objects.autoscalers.values())),
            vertical_autoscaler=next(
                vertical_autoscalers(pod, objects.vertical_autoscalers.values()), ""
            ),
            node=_amounts(room),
        )

    async def read(self, pod: SizedPod) -> tuple[SizedPod, Mapping[str, Any], str] | None:
        snapshot = self.cluster.watch.snapshot()
        if snapshot is None:
            raise NotResizedError("the cluster's pods are not listed", again=True)
        try:
            body = await self.cluster.reader.raw(PODS, pod.namespace, pod.name)
            document = msgspec.json.decode(body, type=dict[str, Any])
            typed = msgspec.convert(document, Pod)
        except NotFoundError:
            return None
        except KubeError as error:
            raise NotResizedError(str(error), again=True) from error
        except (msgspec.MsgspecError, RecursionError) as error:
            raise NotResizedError("the answer is no pod", again=True) from error
        # Another pod may have its name by now.
        if typed.metadata.uid != pod.uid or not typed.is_running:
            return None
        return sized_pod(typed, snapshot, document), document, typed.metadata.resource_version

    async def rehearse(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        await self._patch(pod, document, version, edits, subresource="resize", dry_run=True)

    async def resize(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        await self._patch(pod, document, version, edits, subresource="resize")

    async def stamp(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edit: Edit
    ) -> tuple[Mapping[str, Any], str]:
        body = await self._patch(pod, document, version, [edit])
        try:
            written = msgspec.json.decode(body, type=dict[str, Any])
            return written, str(written["metadata"]["resourceVersion"])
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise NotResizedError("the answer is no pod", again=True) from error

    async def _patch(
        self,
        pod: SizedPod,
        document: Mapping[str, Any],
        version: str,
        edits: Sequence[Edit],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> bytes:
        operations = [*guards(document, edits, PODS.kind), *render(document, edits, PODS.kind)]
        try:
            return await self.cluster.writer.json_patch(
                PODS,
                pod.namespace,
                pod.name,
                operations,
                only_if=OnlyIf(uid=pod.uid, resource_version=version),
                subresource=subresource,
                dry_run=dry_run,
            )
        except (ConflictError, NotFoundError) as error:
            raise PodChangedError(str(error)) from error
        except InvalidError as error:
            # A failed test and a value that is not allowed have the same status, 422.
            now = await self.read(pod)
            if now is None or now[2] != version:
                raise PodChangedError(str(error)) from error
            raise NotResizedError(str(error), again=False) from error
        except OverBudgetError as error:
            raise NotResizedError(str(error), again=True) from error
        except ForbiddenError as error:
            # A quota or a LimitRange, which refuses new pods of that size, too; or a right that is missing.
            raise NotResizedError(str(error), again=False, for_new=True) from error
        except KubeError as error:
            raise NotResizedError(str(error), again=error.retry) from error

    def notify(self, pod: SizedPod, note: str, *, warning: bool = False) -> None:
        where = ("v1", "Pod", pod.namespace, pod.name, pod.uid)
        self.cluster.announcer.announce(
            News(*where, "Sizing", note, "Warning" if warning else "Normal")
        )


@dataclass(frozen=True, slots=True)
class SizedPodEvictor:
    """The `PodEvictor`."""

    writer: Writer
    announcer: Announcer
    nodes: Callable[[], Iterable[WatchedNode]]

    def has_room(self, needs: PodNeeds) -> bool:
        return any(
            not node.spec.unschedulable and not lacking(needs, _amounts(node.status.allocatable))
            for node in self.nodes()
        )

    async def evict(self, pod: SizedPod) -> None:
        try:
            await self.writer.evict(pod.namespace, pod.name, only_if=OnlyIf(uid=pod.uid))
        except (NotFoundError, ConflictError):
            return
        except OverBudgetError as error:
            raise NotResizedError(str(error), again=True) from error
        except KubeError as error:
            raise NotResizedError(str(error), again=error.retry) from error

    def notify(self, pod: SizedPod, note: str, *, warning: bool = False) -> None:
        where = ("v1", "Pod", pod.namespace, pod.name, pod.uid)
        self.announcer.announce(News(*where, "Sizing", note, "Warning" if warning else "Normal"))


def sized_pod(
    pod: Pod, snapshot: ClusterSnapshot, document: Mapping[str, Any] | None = None
) -> SizedPod:
    """*document*: the whole object, when it was read."""
    meta, owner = pod.metadata, snapshot.owner(pod)
    restarts = {} if document is None else dict(_restarts(document))
    beside, starting = _around_containers(pod.spec)
    return SizedPod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        node=pod.spec.node_name,
        workload=(meta.namespace, owner.kind, owner.name),
        labels=meta.labels,
        created_at=moment_of(meta.creation_timestamp) or 0.0,
        containers=tuple(
            SizedContainer(
                name=each.name,
                requests=_amounts(each.resources.requests),
                limits=_amounts(each.resources.limits),
                restarted_by=restarts.get(each.name, frozenset()),
            )
            for each in pod.spec.containers
        ),
        beside=beside,
        starting=starting,
        manifest=_manifest(pod) if document is None else document,
        stamp=meta.annotations.get(names.MUTATION, ""),
        skips=skips_of(meta.annotations),
        state=_state(pod),
    )


def autoscaled(pod: SizedPod, autoscalers: Sequence[Autoscaler] | Any) -> Iterator[str]:
    """Resources of its workload that HorizontalPodAutoscalers follow."""
    namespace, kind, name = pod.workload
    for each in autoscalers:
        target = each.spec.scale_target_ref
        if (each.metadata.namespace, target.kind, target.name) != (namespace, kind, name):
            continue
        yield from followed(each)


def vertical_autoscalers(
    pod: SizedPod, autoscalers: Sequence[VerticalAutoscaler] | Any
) -> Iterator[str]:
    """Names of those that size its workload as well."""
    namespace, kind, name = pod.workload
    for each in autoscalers:
        target = each.spec.target_ref
        is_its = (each.metadata.namespace, target.kind, target.name) == (namespace, kind, name)
        if is_its and gives(each):
            yield each.metadata.name


def _state(pod: Pod) -> ResizeState:
    for each in pod.status.conditions:
        if each.status == "False":
            continue
        if each.type == "PodResizePending":
            return "Infeasible" if each.reason == "Infeasible" else "Deferred"
        if each.type == "PodResizeInProgress":
            return "Error" if each.reason == "Error" else "InProgress"
    return ""


def _restarts(document: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for container in document["spec"]["containers"]:
        policies = container.get("resizePolicy") or ()
        yield (
            container["name"],
            frozenset(
                each.get("resourceName", "")
                for each in policies
                if each.get("restartPolicy") == "RestartContainer"
            ),
        )


def _around_containers(spec: PodSpec) -> tuple[PodNeeds, PodNeeds]:
    """What it requests beside its containers, and at most while it starts."""
    if not spec.init_containers and not spec.overhead:
        return {}, {}
    sidecars: PodNeeds = {}
    starting: PodNeeds = {}
    for each in spec.init_containers:
        own = added(sidecars, _needed(each.resources.requests))
        starting = larger(starting, own)
        if each.is_sidecar:
            sidecars = own
    overhead = _needed(spec.overhead)
    return added(sidecars, overhead), added(starting, overhead)


def _needed(found: Mapping[str, str]) -> PodNeeds:
    return {name: amount for name in RESOURCES if (amount := quantity(found.get(name)))}


def _manifest(pod: Pod) -> Mapping[str, Any]:
    spec: dict[str, Any] = {
        "containers": [_container(each.name, each.resources) for each in pod.spec.containers],
        "initContainers": [
            _container(each.name, each.resources) for each in pod.spec.init_containers
        ],
    }
    own = _resources(pod.spec.resources)
    return {"spec": {**spec, "resources": own} if own else spec}


def _container(name: str, resources: Resources) -> dict[str, Any]:
    return {"name": name, "resources": _resources(resources)}


def _resources(resources: Resources) -> dict[str, Any]:
    both = {"requests": dict(resources.requests), "limits": dict(resources.limits)}
    return {side: amounts for side, amounts in both.items() if amounts}


def _amounts(found: Mapping[str, str]) -> dict[str, Quantity]:
    return {name: amount for name in RESOURCES if (amount := quantity(found.get(name)))}
