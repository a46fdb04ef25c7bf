"""Rolls workloads: writes the slow strategy, watches the pods become new, and puts the strategy back.

What is to be put back stands in the store before it is changed, and the template carries the roll's id: a
brain that starts again goes on from what it finds.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.rolling import strategies
from nemutator_controller.rolling.day_windows import day_window
from nemutator_controller.rolling.ports import OffPeaks, RollStore, Workloads
from nemutator_controller.rolling.records import (
    LiveWorkload,
    Roll,
    RolledWorkload,
    WorkloadChangedError,
    WorkloadGoneError,
    WorkloadRefusedError,
    WorkloadUnreachableError,
)

log = logging.getLogger(__name__)

CHECK_S = 2.0
MOST_OPEN = 20
"""Rolls at once: each is a question to the API server every other second."""

GONE = "it is not there any more"
OTHERS = "somebody else has changed its strategy meanwhile: it stays as they left it"
HELD = "its window is over: it goes on in the next one"
NOT_YET = "its window has not come yet: it begins in it"
PEAK = "it is not off-peak now: it goes on when it is"
UNTOLD = "whether it is off-peak cannot be told yet: `nemutator seasons` says why"
TAKEN_BACK = (
    "somebody has taken the template back meanwhile, or put another one in its place: which of its pods are"
    " new is not known"
)
PAUSED = "somebody has paused it meanwhile"
RESUME = "mend what fails, then `kubectl rollout resume`, or resume and `kubectl rollout undo`"
KEPT_SLOW = (
    "the slow strategy stays, because its own would take away further pods: put that one back then"
    " (`roll --show ID -o json` has it)"
)
MEND = "mend what fails, or `kubectl rollout undo`: its controller waits for that pod"


class RolledAlreadyError(Exception):
    """A roll of that workload is not finished yet."""


class TooManyRollsError(Exception):
    """There is no room for a further roll."""


@dataclass(slots=True)
class SlowRolls:
    workloads: Workloads
    store: RollStore
    process: Process
    off_peaks: OffPeaks
    _: KW_ONLY
    _open: dict[str, Roll] = field(default_factory=dict, init=False)
    _generations: dict[str, int] = field(default_factory=dict, init=False)
    """By roll, the generation of its workload that was seen last. A next life begins with what it finds."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def restore(self) -> None:
        """Raises `StoreUnavailableError`."""
        self._open = {roll.id: roll for roll in await self.store.unfinished()}

    async def add(self, roll: Roll) -> None:
        """Raises `RolledAlreadyError`, `TooManyRollsError` and `StoreUnavailableError`."""
        async with self._changing:
            where = _place(roll.workload)
            for other in [each for each in self._open.values() if _place(each.workload) == where]:
                if other.workload.uid == roll.workload.uid:
                    raise RolledAlreadyError
                # While it waits for its time nobody looks whether its workload is there still.
                await self._save(other.then("failed", why=GONE))
            if len(self._open) >= MOST_OPEN:
                raise TooManyRollsError
            await self._save(roll)

    async def stop(self, id_: str, *, why: str) -> None:
        """End it where it is. Raises what `Workloads` and `RollStore` raise, and `WorkloadChangedError`."""
        async with self._changing:
            if (roll := self._open.get(id_)) is None:
                return
            try:
                live = await self.workloads.get(roll.workload)
            except WorkloadGoneError:
                await self._save(roll.then("failed", why=GONE))
            else:
                await self._stop(roll, live, why)

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            self.process.meter.gauge(names.ROLLS_OPEN, len(self._open))
            for id_ in list(self._open):
                async with self._changing:
                    if (roll := self._open.get(id_)) is not None:
                        await self._check(roll)

    async def _check(self, roll: Roll) -> None:
        try:
            await self._advance(roll)
        except WorkloadGoneError:
            await self._save(roll.then("failed", why=GONE))
        except WorkloadRefusedError as error:
            await self._save(roll.then("failed", why=str(error)))
            self.workloads.notify(roll.workload, f"not rolled: {error}", warning=True)
        except WorkloadChangedError:
            # It is read again the next time.
            pass
        except (WorkloadUnreachableError, StoreUnavailableError) as error:
            log.warning("roll_waits", {names.OBJECT: str(roll.workload), names.ERROR: str(error)})

    async def _advance(self, roll: Roll) -> None:
        now = self.process.clock.now()
        why_not = self._why_not(roll, now)
        is_time = not why_not
        if roll.state == "waiting":
            await self._wait(roll, why_not, now)
            return
        live = await self.workloads.get(roll.workload)
        can_hold = roll.workload.kind == "Deployment"
        if roll.state == "rolling" and not is_time and can_hold:
            await self.workloads.patch(live, {"spec": {"paused": True}})
            await self._save(roll.then("held", why=why_not))
        elif roll.state == "held" and is_time:
            await self.workloads.patch(live, {"spec": {"paused": None}})
            await self._save(replace(roll.then("rolling"), progress_at=now))
        elif roll.state == "rolling":
            await self._follow(roll, live, now)

    async def _wait(self, roll: Roll, why_not: str, now: float) -> None:
        """Begin it when it is time. It may also have begun already, and the store has not taken that."""
        live = await self.workloads.get(roll.workload) if not why_not or roll.strategy else None
        if live is not None and (not why_not or strategies.is_begun(live.document, roll.id)):
            await self._begin(roll, live, now)
            return
        why = NOT_YET if why_not == HELD else why_not
        if roll.why != why:
            await self._save(roll.then("waiting", why=why))

    def _why_not(self, roll: Roll, now: float) -> str:
        """Why its time is not now; empty: it is."""
        window = day_window(roll.window)
        if window is not None and not window.holds(now):
            return HELD
        if not roll.off_peak:
            return ""
        return {True: "", False: PEAK, None: UNTOLD}[self.off_peaks.is_off_peak(roll.workload)]

    async def _begin(self, roll: Roll, live: LiveWorkload, now: float) -> None:
        kind = roll.workload.kind
        if not strategies.is_begun(live.document, roll.id):
            if why := strategies.why_not(kind, live.document):
                await self._save(roll.then("failed", why=why))
                return
            if not roll.strategy or roll.strategy[0] != strategies.remembered(kind, live.document):
                roll = replace(roll, strategy=(strategies.remembered(kind, live.document),))
                await self._save(roll)
            await self.workloads.patch(live, strategies.begun(kind, live.document, roll.id))
        await self._save(replace(roll.then("rolling"), progress_at=now))
        log.info("roll_begun", {names.OBJECT: str(roll.workload), names.PEER: roll.by})
        self.workloads.notify(roll.workload, f"rolled slowly for {roll.by}: {roll.reason}")

    async def _follow(self, roll: Roll, live: LiveWorkload, now: float) -> None:
        found = strategies.status(roll.workload.kind, live.document)
        if found.is_done:
            others = await self._put_back(roll, live)
            if strategies.is_begun(live.document, roll.id):
                await self._save(roll.then("done", why=others))
            else:
                await self._stopped(roll, "; ".join(filter(None, (TAKEN_BACK, others))))
        elif roll.why:
            await self._stop(roll, live, roll.why)
        elif found.seen and (
            self._is_changed(roll, found)
            or found.size != roll.size
            or found.progress > roll.progress
        ):
            # Counts of fewer or of more pods, or of another template, are not compared: their time begins anew.
            roll = replace(roll, progress=found.progress, size=found.size)
            await self._save(replace(roll, progress_at=now))
        elif now - roll.progress_at >= roll.deadline_s:
            late = f"a pod was not ready within {roll.deadline_s:.0f} s"
            roll = replace(roll, why=PAUSED if strategies.is_paused(live.document) else late)
            # Kept before it is stopped, which pauses it, and may have to be tried again.
            await self._save(roll)
            await self._stop(roll, live, roll.why)

    def _is_changed(self, roll: Roll, found: strategies.RollStatus) -> bool:
        """Whether somebody has changed the workload since the last look at it."""
        before = self._generations.get(roll.id, found.generation)
        self._generations[roll.id] = found.generation
        return before != found.generation

    async def _stop(self, roll: Roll, live: LiveWorkload, why: str) -> None:
        if roll.state == "waiting" and not strategies.is_begun(live.document, roll.id):
            await self._save(roll.then("stopped", why=why))
            log.warning("roll_stopped", {names.OBJECT: str(roll.workload), names.ERROR: why})
            return
        if roll.workload.kind == "Deployment":
            # With its own strategy the next pods would go as well.
            live = await self.workloads.patch(live, {"spec": {"paused": True}})
        if strategies.goes_on_faster(roll.workload.kind, _mapping(roll.strategy)):
            others = KEPT_SLOW
        else:
            others = await self._put_back(roll, live)
        remedy = RESUME if roll.workload.kind == "Deployment" else MEND
        await self._stopped(roll, "; ".join(filter(None, (why, others, remedy))))

    async def _stopped(self, roll: Roll, why: str) -> None:
        await self._save(roll.then("stopped", why=why))
        self.workloads.notify(roll.workload, f"the slow roll was stopped: {why}", warning=True)
        log.warning("roll_stopped", {names.OBJECT: str(roll.workload), names.ERROR: why})

    async def _put_back(self, roll: Roll, live: LiveWorkload) -> str:
        """Write the remembered strategy; why not, if somebody else has changed it."""
        kind, strategy = roll.workload.kind, _mapping(roll.strategy)
        change = strategies.ended(kind, live.document, strategy)
        if change is not None:
            await self.workloads.patch(live, change)
            return ""
        return "" if strategies.remembered(kind, live.document) == strategy else OTHERS

    async def _save(self, roll: Roll) -> None:
        await self.store.save(roll)
        if roll.is_open:
            self._open[roll.id] = roll
        else:
            self._open.pop(roll.id, None)
            self._generations.pop(roll.id, None)
            self.process.meter.count(names.ROLLS, result=roll.state)


def _mapping(strategy: tuple[Any, ...]) -> Mapping[str, Any]:
    return strategy[0] if strategy else {}


def _place(workload: RolledWorkload) -> tuple[str, str, str]:
    return workload.namespace, workload.kind, workload.name
