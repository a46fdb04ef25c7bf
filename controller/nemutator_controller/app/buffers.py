"""Buffers, put together, with what they ask of the cluster and of seasons."""

import math
import uuid
from dataclasses import dataclass

import msgspec

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.app.leadership import by_the_leader
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.buffers.endpoint import BuffersApi
from nemutator_controller.buffers.keeping import LOWERED_AFTER_S, BufferKeeping
from nemutator_controller.buffers.model import (
    BufferObject,
    BufferUnknownError,
    ExpectedRise,
    FoundBuffer,
    NotScaledError,
    WantedBuffer,
)
from nemutator_controller.buffers.sizes import expected_rise
from nemutator_controller.inventory.amounts import cpu_memory
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.buffer_objects import CAPACITY_BUFFERS, CapacityBuffer
from nemutator_controller.kube.failures import (
    KubeError,
    NotFoundError,
    UnknownResourceError,
)
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.resources import DEPLOYMENTS, Resource
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.seasons.calendars import DAY_S
from nemutator_controller.seasons.day_book import CLUSTER
from nemutator_controller.seasons.finding import SeasonFinding

NAME = "nemutator-buffer"
"""Of the Deployment, and of the CapacityBuffer beside it."""

RECENT_SLOTS = 3
"""What was used so lately counts as used now."""

ALONE = "there is no cluster: nothing could take the place of pods that keep room free"
OFF = "no room is kept free: brain.buffer_pods is 0"


def buffers_part(context: BrainContext, seasons: BrainSeasons) -> Part:
    settings, cluster, process = context.settings, context.cluster, context.process
    if cluster is None:
        remedy = "ask the brain of a cluster: --brain https://HOST:PORT"
        return Part(routes=BuffersApi(None, ALONE, remedy, process, status=404).routes())
    if not settings.buffer_pods:
        return _refusing(context, OFF, "set it to as many as there may be (docs/buffers.md)")
    keeping = BufferKeeping(
        SeasonWishes(seasons),
        ClusterBuffer(cluster, settings.namespace),
        BrainJournal(SqlJournal(context.database)),
        process,
        most=settings.buffer_pods,
        fresh=lambda: uuid.uuid4().hex,
        lowered_after_s=LOWERED_AFTER_S * settings.season_day_s / DAY_S,
    )
    api = BuffersApi(keeping, "", "", process)
    return Part(
        routes=by_the_leader(api.routes(), cluster.leadership, reading=True),
        tasks=[Task(TaskPhase.WORK, "keep room free", keeping.run, alone=True)],
    )


def _refusing(context: BrainContext, why: str, remedy: str) -> Part:
    return Part(routes=BuffersApi(None, why, remedy, context.process).routes())


@dataclass(frozen=True, slots=True)
class SeasonWishes:
    """The `BufferWishes`."""

    seasons: BrainSeasons

    def wanted(self) -> WantedBuffer | None:
        if not self.seasons.switching.is_settled:
            # Else each start of a brain would take the buffer away.
            raise BufferUnknownError("which policies are in force is not known yet")
        behaviour = self.seasons.behaviour()
        if (buffer := behaviour.buffer) is None:
            return None
        return WantedBuffer(
            policy=behaviour.buffer_by, pods=buffer.pods, forecast_percent=buffer.forecast_percent
        )

    def rise(self) -> ExpectedRise | None:
        return rise_of(self.seasons.finding)


def rise_of(finding: SeasonFinding) -> ExpectedRise | None:
    """Of the cluster; where nobody reports now, from what is expected now."""
    found, book = finding.found.get(CLUSTER), finding.book
    if found is None or found.plan is None:
        return None
    calendar, day = book.calendar, found.plan.day
    slot = calendar.place(finding.process.clock.now()).slot
    expected, upper = day.expected.tolist(), day.upper.tolist()
    lately = book.today_of(book.numbers[CLUSTER])[max(0, slot - RECENT_SLOTS) : slot + 1].tolist()
    used = next((one for one in reversed(lately) if math.isfinite(one)), expected[slot])
    ahead = finding.lead_of(CLUSTER)
    return ExpectedRise(
        cores=expected_rise(expected, upper, used, slot=slot, ahead=ahead),
        within_s=ahead * calendar.slot_s,
    )


@dataclass(frozen=True, slots=True)
class ClusterBuffer:
    """The `BufferObjects`: a Deployment, and in its place a CapacityBuffer where somebody has made one."""

    cluster: Cluster
    namespace: str

    async def find(self) -> FoundBuffer | None:
        try:
            deployments = self.cluster.workloads[DEPLOYMENTS.kind].snapshot()
        except NotSyncedError as error:
            raise BufferUnknownError("the cluster's Deployments are not listed yet") from error
        deployment: WatchedWorkload | None = deployments.get(self.namespace, NAME)
        if deployment is None:
            return None
        requests = [
            cpu_memory(each.resources.requests) for each in deployment.spec.template.spec.containers
        ]
        made = _object(DEPLOYMENTS, deployment, deployment.spec.replicas)
        in_its_place = await self._capacity_buffer()
        return FoundBuffer(
            cpu_cores=sum(each.cpu_millis for each in requests) / 1_000,
            memory_bytes=float(sum(each.memory_bytes for each in requests)),
            holder=in_its_place or made,
            others=(made,) if in_its_place else (),
        )

    async def _capacity_buffer(self) -> BufferObject | None:
        for resource in CAPACITY_BUFFERS:
            try:
                body = await self.cluster.reader.raw(resource, self.namespace, NAME)
                found = msgspec.json.decode(body, type=CapacityBuffer)
            except (NotFoundError, UnknownResourceError):
                continue
            except (KubeError, msgspec.MsgspecError) as error:
                raise BufferUnknownError(f"the CapacityBuffer: {error}") from error
            return _object(resource, found, found.spec.replicas)
        return None

    async def scale(self, one: BufferObject, pods: int) -> None:
        resource: Resource[WatchedWorkload] | Resource[CapacityBuffer] = next(
            (each for each in CAPACITY_BUFFERS if each.api_version == one.api_version), DEPLOYMENTS
        )
        try:
            await self.cluster.writer.merge_patch(
                resource,
                one.namespace,
                one.name,
                {"spec": {"replicas": pods}},
                only_if=OnlyIf(uid=one.uid),
            )
        except NotFoundError:
            return
        except (KubeError, OverBudgetError) as error:
            raise NotScaledError(str(error)) from error

    def notify(self, one: BufferObject, note: str) -> None:
        where = (one.api_version, one.kind, one.namespace, one.name, one.uid)
        self.cluster.announcer.announce(News(*where, "BufferScaled", note))


def _object(
    resource: Resource[WatchedWorkload] | Resource[CapacityBuffer],
    found: WatchedWorkload | CapacityBuffer,
    replicas: int | None,
) -> BufferObject:
    meta = found.metadata
    return BufferObject(
        api_version=resource.api_version,
        kind=resource.kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        # An absent number is one pod.
        pods=1 if replicas is None else replicas,
    )
