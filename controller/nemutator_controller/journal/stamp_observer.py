"""Notes which pods came of which decisions, because admission decides before a pod has its name.

A pod may be seen before its decision arrives: admission ships decisions on another way, and late when
the brain was away. So stamps that the journal does not know are tried again, less and less often.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.journal.ports import JournalStore, StampedPods
from nemutator_controller.journal.records import LONGEST_ID, PodStamp, StampedPod
from nemutator_controller.mutations.stamps import parse_stamp

log = logging.getLogger(__name__)

EVERY_S = 1.0
STEP = 200
"""Stamps in one transaction: reports must not wait long behind it."""

MOST_FRESH = 1_000
"""Stamps that wait for their first try; further pods wait in the watch's queue, which is bounded."""

MOST_WAITING = 10_000
"""Stamps that wait for their decisions; more are counted, and seen again when their pods change."""

MOST_NOTED = 200_000
"""Pods that are done: more than a cluster can have at once."""

LONGEST_S = 300.0
TRIES = 30
"""Two hours of tries. A decision that has not arrived by then is lost, or too old to be kept."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    stamp: PodStamp
    tries: int
    due_at: float


@dataclass(slots=True)
class StampObserver:
    store: JournalStore
    pods: StampedPods
    process: Process
    _fresh: dict[str, PodStamp] = field(default_factory=dict, init=False)
    _waiting: dict[str, _Waiting] = field(default_factory=dict, init=False)
    _noted: dict[str, str] = field(default_factory=dict, init=False)
    """The stamps of pods that are done, by uid; the oldest are forgotten first."""

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(), name="follow stamped pods")
            group.create_task(self._note(), name="note stamped pods")

    async def _follow(self) -> None:
        async for pod in self.pods.changes():
            uid = pod.subject.uid
            if self._noted.get(uid) == pod.stamp or uid in self._waiting:
                continue
            if (stamp := pod_stamp_of(pod)) is not None:
                while len(self._fresh) >= MOST_FRESH:
                    await self.process.clock.sleep(EVERY_S)
                self._fresh[uid] = stamp
            self._done(uid, pod.stamp)

    async def _note(self) -> None:
        while True:
            await self.process.clock.sleep(EVERY_S)
            try:
                await self.note()
            except StoreUnavailableError as failure:
                log.warning("stamps_not_noted", {names.REASON: failure.reason})

    async def note(self) -> None:
        """Note all that is due in the journal; what the journal cannot store stays due."""
        while some := dict(islice(self._fresh.items(), STEP)):
            waiting = {uid: _Waiting(one, 0, 0.0) for uid, one in some.items()}
            await self._note_some(waiting)
        now = self.process.clock.monotonic()
        due = [(uid, one) for uid, one in self._waiting.items() if one.due_at <= now]
        for at in range(0, len(due), STEP):
            await self._note_some(dict(due[at : at + STEP]))

    async def _note_some(self, some: Mapping[str, _Waiting]) -> None:
        known_by_pod = await self.store.note([one.stamp for one in some.values()])
        for (uid, one), known in zip(some.items(), known_by_pod, strict=True):
            self._fresh.pop(uid, None)
            self._waiting.pop(uid, None)
            if known == "unknown" and one.tries < TRIES:
                self._wait(uid, one)
            else:
                self.process.meter.count(names.STAMPS, result=known)

    def _wait(self, uid: str, one: _Waiting) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._noted.pop(uid, None)
            self.process.meter.count(names.STAMPS, result="full")
            return
        delay_s = min(LONGEST_S, EVERY_S * 2.0**one.tries)
        self._waiting[uid] = replace(
            one, tries=one.tries + 1, due_at=self.process.clock.monotonic() + delay_s
        )

    def _done(self, uid: str, stamp: str) -> None:
        self._noted.pop(uid, None)
        if len(self._noted) >= MOST_NOTED:
            del self._noted[next(iter(self._noted))]
        self._noted[uid] = stamp


def pod_stamp_of(pod: StampedPod) -> PodStamp | None:
    """None when the text is not a stamp of ours."""
    stamp = parse_stamp(pod.stamp)
    if stamp is None or not 0 < len(stamp.id) <= LONGEST_ID:
        return None
    return PodStamp(stamp.id, pod.subject)
