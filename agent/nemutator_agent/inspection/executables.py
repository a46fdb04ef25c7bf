"""Finds the runtime of each process: once for each executable, and no snapshot waits for it.

A snapshot says which processes there are (`follow`); a task works through those whose executable is
not known yet (`run`). What is known by then is in `runtimes` for the next report.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_agent.inspection.command_lines import script_of
from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime, decode
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.inspection.identities import FileId, ProcessId
from nemutator_agent.inspection.runtimes import by_name, together

T = TypeVar("T")

log = logging.getLogger(__name__)

MOST_CACHED = 4096
"""The most executables in the cache. An entry has some 300 bytes, and a node seldom runs more than
a few hundred."""

MOST_WAITING = 4096

_YOUNG_SNAPSHOTS = 3
_SNAPSHOTS_UNTIL_AGAIN = 20
"""A process starts as a copy of its parent and becomes another program a moment later, so it is
inspected more than once while it is young, again when its command changes, and now and then."""

_BACKOFF = Backoff(first_s=0.5, longest_s=60.0)


@dataclass(frozen=True, slots=True)
class Program:
    """The executable of a process: its name, and an open file where the kernel lets us open it."""

    name: str
    file: int | None
    id: FileId | None


class ExecutableFiles(Protocol):
    async def open(self, process: ProcessId) -> Program:
        """The program of *process*; the caller closes its file. Raises ProcessGoneError,
        HiddenFileError, FileSystemStuckError."""
        ...

    def close(self, program: Program) -> None: ...

    async def command_line(self, process: ProcessId) -> tuple[bytes, ...]:
        """The first words of the command line. Raises ProcessGoneError, FileSystemStuckError."""
        ...


class Worker(Protocol):
    """A process without rights that is not believed: a file that it parsed may have taken it over."""

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        """The answer about an open *file*, read by *decode*. Raises WorkerFailedError, also when
        *decode* raises InvalidAnswerError."""
        ...

    def stop(self) -> None:
        """End the process; the next question starts another one."""
        ...


@dataclass(slots=True)
class _Followed:
    command: bytes
    snapshots: int = 0
    detected: DetectedRuntime = UNKNOWN
    denied: bool = False


@dataclass(eq=False, slots=True)
class Executables:
    """Answers from memory; the work happens in `run`, a task of its own."""

    programs: ExecutableFiles
    worker: Worker
    process: Process
    _followed: dict[ProcessId, _Followed] = field(default_factory=dict, init=False)
    _cache: OrderedDict[FileId, DetectedRuntime] = field(default_factory=OrderedDict, init=False)
    _waiting: OrderedDict[ProcessId, None] = field(default_factory=OrderedDict, init=False)
    _work: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _failures: int = field(default=0, init=False)

    def follow(self, commands: Mapping[ProcessId, bytes]) -> None:
        """Take the processes that there are now, each with its command; forget the others."""
        self._followed = {
            process: self._followed.get(process) or _Followed(command)
            for process, command in commands.items()
        }
        for process, followed in self._followed.items():
            changed = followed.command != commands[process]
            followed.command = commands[process]
            followed.snapshots = 1 if changed else followed.snapshots + 1
            if (
                followed.snapshots <= _YOUNG_SNAPSHOTS
                or followed.snapshots % _SNAPSHOTS_UNTIL_AGAIN == 0
            ):
                self._wait_for(process)

    @property
    def runtimes(self) -> Mapping[ProcessId, DetectedRuntime]:
        return {process: followed.detected for process, followed in self._followed.items()}

    @property
    def denied(self) -> int:
        """The number of processes whose executable the kernel does not let us see."""
        return sum(followed.denied for followed in self._followed.values())

    async def run(self) -> None:
        while True:
            await self._work.wait()
            process, _ = self._waiting.popitem(last=False)
            if not self._waiting:
                self._work.clear()
            followed = self._followed.get(process)
            if followed is not None:
                await self._identify(process, followed)

    def _wait_for(self, process: ProcessId) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting[process] = None
            self._work.set()
        else:
            # One of the next snapshots asks for it again.
            self.process.meter.count(names.INSPECTIONS, result="queue_full")

    async def _identify(self, process: ProcessId, followed: _Followed) -> None:
        try:
            detected, name = await self._detect(process, followed)
            script = script_of(name, await self.programs.command_line(process))
        except ProcessGoneError:
            return
        except FileSystemStuckError:
            self.process.meter.count(names.INSPECTIONS, result="stuck")
            return
        followed.detected = replace(detected, script=script)

    async def _detect(self, process: ProcessId, followed: _Followed) -> tuple[DetectedRuntime, str]:
        """The runtime of *process*, and the name of its executable."""
        try:
            program = await self.programs.open(process)
        except HiddenFileError:
            # A process chooses its command itself: that is no proof, but better than nothing.
            followed.denied = True
            name = followed.command.decode("utf-8", "replace")
            return by_name(name), name
        try:
            content = await self._content(program)
        finally:
            self.programs.close(program)
        followed.denied = False
        return together(name=by_name(program.name), content=content), program.name

    async def _content(self, program: Program) -> DetectedRuntime:
        if program.file is None or program.id is None:
            return UNKNOWN
        if program.id in self._cache:
            self._cache.move_to_end(program.id)
            return self._cache[program.id]
        try:
            detected = await self.worker.ask(b"?", program.file, decode)
        except WorkerFailedError as failure:
            self.process.meter.count(names.INSPECTIONS, result=failure.reason)
            self._failures += 1
            delay_s = _BACKOFF.delay_s(self._failures, roll=self.process.dice.random())
            log.warning(
                "inspection_failed",
                {
                    names.REASON: failure.reason,
                    names.PATH: program.name,
                    names.DELAY_S: round(delay_s, 1),
                },
            )
            await self.process.clock.sleep(delay_s)
            # The file made the worker fail, and could do so each time.
            detected = UNKNOWN
        else:
            self._failures = 0
            self.process.meter.count(names.INSPECTIONS, result="done")
        self._cache[program.id] = detected
        if len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
        return detected
