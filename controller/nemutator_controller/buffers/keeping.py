"""Has as many pods keep room free as the season asks for; each change is in the journal before it is made.

More pods are asked for at once. Fewer while the same policy is in force only after they would have been enough for
some minutes: a node that is given up and ordered again costs more than it saved.
"""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.buffers.model import (
    BufferObject,
    BufferSize,
    BufferState,
    BufferUnknownError,
    FoundBuffer,
    NotScaledError,
)
from nemutator_controller.buffers.ports import BufferJournal, BufferObjects, BufferWishes
from nemutator_controller.buffers.sizes import buffer_size
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision, Edit, Subject

log = logging.getLogger(__name__)

EVERY_S = 15.0
LOWERED_AFTER_S = 600.0

REPLICAS = "workload.spec.replicas"
VERB = "buffer"
JOURNALED = "Deployment"
"""Of a CapacityBuffer an Event tells: the journal takes back changes of pods and workloads."""

ABSENT = "nothing keeps room free in this namespace: `kubectl apply -k deploy/buffers` installs it"
TAKEN_BACK = "its last change was taken back; `nemutator tombstones --forget` lets it follow again"


@dataclass(slots=True)
class BufferKeeping:
    wishes: BufferWishes
    objects: BufferObjects
    journal: BufferJournal
    process: Process
    _: KW_ONLY
    most: int
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    lowered_after_s: float = LOWERED_AFTER_S
    state: BufferState = field(default_factory=BufferState, init=False)
    _fewer: tuple[str, float] | None = field(default=None, init=False)
    """The policy under which fewer would be enough, and since when."""

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(EVERY_S)

    async def round(self) -> None:
        problem, found, size, policy = "", None, BufferSize(pods=None, why=ABSENT), ""
        try:
            found = await self.objects.find()
            if found is not None:
                wanted = self.wishes.wanted()
                policy = "" if wanted is None else wanted.policy
                size = buffer_size(
                    wanted, self.wishes.rise(), pod_cores=found.cpu_cores, most=self.most
                )
                problem = await self._bring(found, size, policy)
        except BufferUnknownError as error:
            size = BufferSize(pods=None, why=str(error))
        except StoreUnavailableError as failure:
            problem = f"the journal: {failure.reason}"
            log.warning("buffer_not_scaled", {names.REASON: failure.reason})
        self.state = BufferState(
            at=self.process.clock.now(),
            policy=policy,
            wanted=size.pods,
            why=size.why,
            found=found,
            problem=problem,
        )
        meter = self.process.meter
        meter.gauge(names.BUFFER_PODS, size.pods or 0, state="wanted")
        standing = 0 if found is None else sum(one.pods for one in found.objects)
        meter.gauge(names.BUFFER_PODS, standing, state="standing")

    async def _bring(self, found: FoundBuffer, size: BufferSize, policy: str) -> str:
        """Have what is wanted stand; why it does not."""
        if size.pods is None or self._waits(found, size.pods, policy):
            return ""
        due = [(found.holder, size.pods), *((other, 0) for other in found.others)]
        for one, pods in due:
            if one.pods != pods and (problem := await self._scale(one, pods, size.why, policy)):
                return problem
        return ""

    def _waits(self, found: FoundBuffer, pods: int, policy: str) -> bool:
        """Whether fewer would be enough, but not for long enough."""
        if pods >= found.holder.pods or not policy:
            self._fewer = None
            return False
        now = self.process.clock.monotonic()
        if self._fewer is None or self._fewer[0] != policy:
            # Another policy that wants fewer has waited as seasons do; one that is in force has not.
            is_new = self.state.policy != policy and bool(self.state.at)
            self._fewer = (policy, now)
            return not is_new
        return now - self._fewer[1] < self.lowered_after_s

    async def _scale(self, one: BufferObject, pods: int, why: str, policy: str) -> str:
        if one.kind == JOURNALED:
            if tombstone_of(one) in await self.journal.tombstones():
                self.process.meter.count(names.BUFFER_WRITES, result="left")
                return TAKEN_BACK
            await self.journal.add(self._decision(one, pods, why, policy))
        try:
            await self.objects.scale(one, pods)
        except NotScaledError as error:
            self.process.meter.count(names.BUFFER_WRITES, result="refused")
            log.warning("buffer_not_scaled", {names.OBJECT: _name(one), names.ERROR: error})
            return str(error)
        self._fewer = None
        self.process.meter.count(names.BUFFER_WRITES, result="written")
        log.info(
            "buffer_scaled",
            {names.OBJECT: _name(one), names.COUNT: pods, names.REASON: why},
        )
        self.objects.notify(one, f"from {one.pods} to {pods}: {why}")
        return ""

    def _decision(self, one: BufferObject, pods: int, why: str, policy: str) -> Decision:
        edit = Edit(
            path=REPLICAS,
            before=(one.pods,),
            after=(pods,),
            verb=VERB,
            policy=policy or self.state.policy,
            reason=why,
        )
        return Decision(
            id=self.fresh(),
            at=self.process.clock.now(),
            request_uid="",
            operation="LIVE",
            mode="apply",
            subject=Subject(
                api_version=one.api_version,
                kind=one.kind,
                namespace=one.namespace,
                name=one.name,
                uid=one.uid,
                owner_kind=one.kind,
                owner_name=one.name,
            ),
            edits=(edit,),
        )


def tombstone_of(one: BufferObject) -> Tombstone:
    return Tombstone(one.namespace, one.kind, one.name, REPLICAS)


def _name(one: BufferObject) -> str:
    return f"{one.namespace}/{one.name}"
