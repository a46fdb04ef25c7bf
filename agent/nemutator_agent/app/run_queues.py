"""The timing of run queues of `nemutator-agent observe`, put together: usage names groups by their paths, the kernel by numbers."""

import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Missing

from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.run_queue_timing import (
    GroupNumber,
    RunQueueTiming,
    time_run_queues,
)
from nemutator_agent.profiler.targets import CONTROLLERS
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.mounted import mounted_hierarchies
from nemutator_agent.usage.run_delays import RunDelays

log = logging.getLogger(__name__)

COUNTED_S = 60.0
AGAIN_S = 3600.0
"""After a refusal: rights and kernels hardly change while a process runs, but a busy node may answer later."""


@dataclass(eq=False, slots=True)
class KernelRunQueues:
    """The `RunQueues` of a kernel that may be asked. `run` is a task for a Supervisor: until it has loaded the program, and
    where the kernel refuses that, nothing is timed."""

    process: Process
    time_queues: Callable[..., Awaitable[RunQueueTiming]] = time_run_queues
    _controller: str = field(default="", init=False)
    _timing: RunQueueTiming | None = field(default=None, init=False)
    _refused: ProfileRefused | None = field(default=None, init=False)
    _groups: dict[str, tuple[GroupNumber, ...]] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            try:
                timing = await self._loaded()
            except ProfileRefused as refusal:
                self._refused = refusal
                told = {names.REASON: refusal.reason, names.ERROR: refusal}
                log.warning("run_queues_not_timed", told)
                await self.process.clock.sleep(AGAIN_S)
                continue
            self._timing, self._refused = timing, None
            try:
                await self._count(timing)
            finally:
                self._timing = None
                timing.close()

    def delays(self, path: str, hierarchies: Iterable[Hierarchy]) -> RunDelays | None:
        timing = self._timing
        if timing is None:
            return None
        known, there = self._groups.get(path, ()), tuple(self._numbers(path, hierarchies))
        if known != there:
            timing.remove(known)
            self._groups.pop(path, None)
            # Half of what a group waited would look like all of it.
            if not all(timing.add(one) for one in there):
                timing.remove(there)
                return None
            if there:
                self._groups[path] = there
        read = [timing.read(one) for one in there]
        found = [one for one in read if one is not None]
        if not found or len(found) < len(read):
            return None
        return RunDelays(
            sum(waited_ns for waited_ns, _ in found),
            tuple(sum(of_slot) for of_slot in zip(*(turns for _, turns in found), strict=True)),
        )

    def forget(self, living: Collection[str]) -> None:
        timing = self._timing
        if timing is not None:
            for path in [path for path in self._groups if path not in living]:
                timing.remove(self._groups.pop(path))

    def missing(self) -> tuple[Missing, ...]:
        refusal = self._refused
        if refusal is None:
            return ()
        what = "how long each turn of a thread waited for a CPU: their mean alone is known"
        remedy = f"{refusal.remedy}, or set observe.run_queues to false"
        return (Missing(what, refusal.what, remedy),)

    async def _loaded(self) -> RunQueueTiming:
        self._groups.clear()
        hierarchies = mounted_hierarchies()
        mounted = {name for one in hierarchies for name in one.controllers}
        self._controller = next((name for name in CONTROLLERS if name in mounted), "")
        unified = any(one.version == 2 for one in hierarchies)
        return await self.time_queues(unified=unified, controller=self._controller)

    async def _count(self, timing: RunQueueTiming) -> None:
        before = 0
        while True:
            await self.process.clock.sleep(COUNTED_S)
            lost = timing.untold()
            self.process.meter.count(names.RUN_QUEUE_TURNS_LOST, lost - before, reason="threads")
            before = lost

    def _numbers(self, path: str, hierarchies: Iterable[Hierarchy]) -> Iterator[GroupNumber]:
        """Of the directories of a group that the program looks up."""
        for one in hierarchies:
            is_unified = one.version == 2
            directory = one.directory(path)
            if directory is None or not (is_unified or self._controller in one.controllers):
                continue
            with contextlib.suppress(OSError):
                yield GroupNumber(os.stat(directory).st_ino, is_unified)
