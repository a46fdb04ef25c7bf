"""Names for the addresses of a whole profile: in which file each lies, and the worker's answers about it.

What was learnt of a file is cached by what that file was when it was open, so that the next profile
of the same program asks little. Files that were seen most are read first, and a file that makes the
worker fail is left alone in this profile.
"""

import asyncio
import functools
import logging
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Binary, Frame

from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.profiler.raw import RawProfile, RawRow, SeenProgram, Task
from nemutator_agent.profiler.symbols import debug_files
from nemutator_agent.profiler.symbols.asking import SymbolAsking, SymbolWorker
from nemutator_agent.profiler.symbols.blocked_profile import blocked
from nemutator_agent.profiler.symbols.call_checking import MOST_CALLS, CallChecking
from nemutator_agent.profiler.symbols.keeping import KeptPrograms
from nemutator_agent.profiler.symbols.learnt_names import LearntFile, LearntPlace
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile
from nemutator_agent.profiler.symbols.messages import (
    SymbolQuestion,
)
from nemutator_agent.profiler.symbols.named_profile import AddressNames, assembled, looked_up
from nemutator_agent.profiler.symbols.naming_session import NamingSession
from nemutator_agent.profiler.symbols.notes import sentences
from nemutator_agent.profiler.symbols.ports import MappedFiles
from nemutator_agent.profiler.symbols.wanted import (
    MappedAddresses,
    TaskAddresses,
    by_mapping,
    by_task,
    most_seen_first,
    of_memory,
    without_names,
)

log = logging.getLogger(__name__)

MOST_PLACES = 100_000
"""The most places of one profile that get names. Busy profiles have some thousands."""

MOST_ASKED_FOR_LISTS = 32
"""The most processes, those seen most, that are asked whether they tell names of which none was seen."""
ENOUGH_SAMPLES = 10
"""How often one of its functions was seen in a process before what was not seen says anything."""

GONE = Frame("[gone]")
HIDDEN = Frame("[hidden]")
VDSO = Frame("[vdso]", kind="native", binary=Binary("[vdso]"))


@dataclass(eq=False, slots=True)
class WorkerSymboliser:
    """A `Symboliser` that is also `ExecutableCode`. One profile at a time."""

    files: MappedFiles
    worker: SymbolWorker
    process: Process
    _kept: KeptPrograms = field(init=False)
    _asking: SymbolAsking = field(init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _calls: CallChecking = field(default_factory=CallChecking, init=False)

    def __post_init__(self) -> None:
        self._kept = KeptPrograms(self.files)
        self._asking = SymbolAsking(self.worker, self.process)

    async def code_of(self, pid: int) -> tuple[int, int] | None:
        try:
            mappings = await self.files.mappings(pid)
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            return None
        code = mappings.of_executable()
        return (code[0].start, code[-1].end) if code else None

    async def range_of(self, pid: int) -> tuple[int, int] | None:
        """The first address of a process's Go code, as it is mapped, and the one after its last; None
        where there is no Go code that can be read."""
        async with self._turn:
            try:
                return await self._range(pid, await self.files.mappings(pid))
            except (ProcessGoneError, HiddenFileError, FileSystemStuckError, WorkerFailedError):
                return None

    async def keep(self, program: SeenProgram) -> tuple[int, int] | None:
        async with self._turn:
            mappings = await self._kept.keep(program)
            try:
                return None if mappings is None else await self._range(program.task[0], mappings)
            except (ProcessGoneError, HiddenFileError, FileSystemStuckError, WorkerFailedError):
                return None

    def forget(self) -> None:
        self._kept.forget()

    async def _range(self, pid: int, mappings: Mappings) -> tuple[int, int] | None:
        code = mappings.of_executable()
        text = await self._text(pid, code[0]) if code else None
        if text is None:
            return None
        for mapping in code:
            if 0 <= text[0] - mapping.offset < mapping.end - mapping.start:
                begin = mapping.start + text[0] - mapping.offset
                return begin, begin + text[1] - text[0]
        return None

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        async with self._turn:
            session = self._asking.session()
            try:
                # The kernel first: its list is true, and soon read.
                await self._kernel(session, raw)
                await self._tasks(session, by_task(raw.rows))
            finally:
                # Otherwise it would keep its memory until the next profile, which may never come.
                self.worker.stop()
        profile = assembled(raw, session.names, notes=self._notes(session), labels={})
        if raw.is_off_cpu:
            waits = blocked(profile)
            content = pprof.encode_nanoseconds(waits, seconds=raw.seconds, kind=pprof.OFF_CPU)
            return content, waits.notes
        return pprof.encode(profile), profile.notes

    async def named(
        self, wanted: TaskAddresses
    ) -> tuple[dict[int, tuple[Frame, ...]], tuple[str, ...]]:
        """The frames of a process's addresses, the innermost first, and what people should know."""
        async with self._turn:
            session = self._asking.session()
            try:
                await self._tasks(session, [wanted])
            finally:
                self.worker.stop()
        return {pc: frames for (_, pc), frames in session.names.user.items()}, self._notes(session)

    async def names_of(self, rows: Iterable[RawRow]) -> AddressNames:
        """The names of what processes ran in these rows, without those of the kernel."""
        async with self._turn:
            session = self._asking.session()
            try:
                await self._tasks(session, by_task(rows))
            finally:
                self.worker.stop()
        return session.names

    async def rest(self) -> None:
        """End the worker once nobody asks it: it may wait for a profile that did not come."""
        async with self._turn:
            self.worker.stop()

    def _notes(self, session: NamingSession) -> tuple[str, ...]:
        kinds = session.names.kinds()
        for kind, count in kinds.items():
            self.process.meter.count(names.PROFILE_PLACES, count, kind=kind)
        unnamed = (kinds["unknown"], kinds.total())
        return sentences(session.notes, gone=session.gone, unnamed=unnamed, by_file=session.unnamed)

    async def _tasks(self, session: NamingSession, tasks: Iterable[TaskAddresses]) -> None:
        parts: list[MappedAddresses] = []
        wanted = list(tasks)
        for one in wanted:
            parts += await self._mapped(session, one)
        for part in most_seen_first(parts):
            if part.mapping.inode or part.mapping.named == VDSO.function:
                await self._name(session, part)
        for task, addresses in of_memory(parts, session.names.user).items():
            await self._compiled(session, task, addresses)
        await self._without_compiled(session, wanted)
        session.unnamed = without_names(parts, session.names.user)

    # --- a process -------------------------------------------------------------------------------
    async def _mapped(self, session: NamingSession, wanted: TaskAddresses) -> list[MappedAddresses]:
        """Find the mappings of a process's addresses, and give each a name for want of a better one."""
        task, user = wanted.task, session.names.user
        by_count = sorted(wanted.seen, key=lambda pc: -wanted.seen[pc])
        some = by_count[: MOST_PLACES - len(user)]
        if len(some) < len(wanted.seen):
            session.note("this profile", "too_many")
        try:
            mappings = await self.files.mappings(task[0])
            if not mappings.are_of(task[1]):
                raise ProcessGoneError
        except ProcessGoneError:
            user |= {(task, pc): (GONE,) for pc in some}
            kept = self._kept.mappings(task)
            if kept is None:
                session.gone += 1
                return []
            mappings = kept
            session.ended.add(task)
        except (HiddenFileError, FileSystemStuckError):
            session.note("the memory of a process", "closed")
            user |= {(task, pc): (HIDDEN,) for pc in some}
            return []
        parts = by_mapping(wanted, some, mappings)
        if task in session.ended and sum(len(part.places) for part in parts) < len(some):
            session.gone += 1
        for part in parts:
            named = part.mapping.named
            frame = VDSO if named == VDSO.function else Frame(f"[unknown in {named}]")
            user |= {(task, pc): (frame,) for pc in part.places}
        return parts

    async def _name(self, session: NamingSession, part: MappedAddresses) -> None:
        if self._asking.is_over(session):
            session.note(part.mapping.named, "late")
            return
        if part.task in session.ended:
            kept = self._kept.file(part.mapping)
            if kept is not None:
                await self._name_from(session, kept, part)
            return
        try:
            file = await self.files.open(part.task[0], part.mapping)
        except ProcessGoneError:
            return
        except (HiddenFileError, FileSystemStuckError) as failure:
            stuck = isinstance(failure, FileSystemStuckError)
            session.note(part.mapping.named, "stuck" if stuck else "closed")
            return
        try:
            await self._name_from(session, file, part)
        finally:
            self.files.close(file)

    async def _name_from(
        self, session: NamingSession, file: OpenFile, part: MappedAddresses
    ) -> None:
        known = await self._ask_about(session, file, part)
        known |= await self._in_debug_file(session, file, part, known)
        await self._check_calls(session, file, part)
        about = self._asking.learnt.file(file.id) or LearntFile()
        for note in about.notes:
            session.note(part.mapping.named, note)
        binary = about.mapped(part.mapping)
        placed = {
            place: _placed(found.frames, place, binary)
            for place, found in known.items()
            if found.frames is not None
        }
        for pc, place in part.places.items():
            if place in placed:
                session.names.user[part.task, pc] = placed[place]
            depth = known[place].depth if place in known else None
            if depth is not None and pc in part.leaves:
                session.names.depths[part.task, pc] = depth

    async def _in_debug_file(
        self,
        session: NamingSession,
        file: OpenFile,
        part: MappedAddresses,
        known: Map[int, LearntPlace],
    ) -> dict[int, LearntPlace]:
        """What the file with the symbols of *file*, where the process has one, names beyond *known*."""
        about = self._asking.learnt.file(file.id) or LearntFile()
        nameless = [place for place, found in known.items() if found.frames is None]
        if not nameless or not about.build_id or part.task in session.ended:
            return {}
        where = debug_files.paths(part.mapping.path, build_id=about.build_id, name=about.debug_link)
        try:
            debug = await self.files.open_first(part.task[0], where)
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            return {}
        try:
            question = SymbolQuestion(False, is_debug_file=True)
            addresses = {place + about.shift: place for place in nameless}
            found = await self._asking.places(
                session, debug, part.mapping.named, sorted(addresses), set(), question
            )
        finally:
            self.files.close(debug)
        if (self._asking.learnt.file(debug.id) or LearntFile()).build_id != about.build_id:
            return {}
        return {addresses[address]: one for address, one in found.items()}

    async def _ask_about(
        self, session: NamingSession, file: OpenFile, part: MappedAddresses
    ) -> dict[int, LearntPlace]:
        deep = {part.places[pc] for pc in part.leaves}
        places = sorted(set(part.places.values()))
        return await self._asking.places(
            session, file, part.mapping.named, places, deep, SymbolQuestion(False)
        )

    async def _check_calls(
        self, session: NamingSession, file: OpenFile, part: MappedAddresses
    ) -> None:
        ask_once = functools.partial(self._asking.once, session, file)
        most = max(0, MOST_CALLS - len(session.names.calls))
        judged = await self._calls.verdicts(file.id, part, most=most, ask=ask_once)
        for (caller, callee), verdict in judged.items():
            session.names.calls[part.task, caller, callee] = verdict

    async def _text(self, pid: int, mapping: Mapping) -> tuple[int, int] | None:
        file = await self.files.open(pid, mapping)
        try:
            known = self._asking.learnt.file(file.id)
            if known is None:
                return (await self._asking.answer(SymbolQuestion(False), file)).text
            return known.text
        finally:
            self.files.close(file)

    async def _compiled(self, session: NamingSession, task: Task, addresses: list[int]) -> None:
        """Name what a process has compiled itself, where it tells the names."""
        try:
            file = await self.files.open_perf_map(task[0])
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            return
        name, question = f"perf-{task[0]}.map", SymbolQuestion(False, perf_map=True)
        try:
            found = await self._asking.listed(session, name, file, addresses, question)
        finally:
            self.files.close(file)
        if found:
            session.compiled.add(task)
        session.names.user |= {(task, pc): (frame,) for pc, frame in found.items()}

    async def _without_compiled(
        self, session: NamingSession, tasks: Sequence[TaskAddresses]
    ) -> None:
        """Note which processes tell names of such code, while none of it is on their stacks: an interpreter
        without frame pointers hides all that it runs."""
        for wanted in tasks[:MOST_ASKED_FOR_LISTS]:
            samples = max(wanted.seen.values(), default=0)
            seen = session.compiled | session.ended
            if wanted.task in seen or samples < ENOUGH_SAMPLES:
                continue
            try:
                file = await self.files.open_perf_map(wanted.task[0])
            except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
                continue
            self.files.close(file)
            session.note(f"perf-{wanted.task[0]}.map", "unseen")

    # --- the kernel ------------------------------------------------------------------------------
    async def _kernel(self, session: NamingSession, raw: RawProfile) -> None:
        wanted = sorted({pc for row in raw.rows for pc in looked_up(row.kernel)})
        if not wanted:
            return
        try:
            file = await self.files.open_kernel()
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            session.note("the kernel", "hidden")
            return
        question = SymbolQuestion(True)
        try:
            found = await self._asking.listed(session, "the kernel", file, wanted, question)
        finally:
            self.files.close(file)
        session.names.kernel |= found


def _placed(frames: Iterable[Frame], place: int, binary: Binary) -> tuple[Frame, ...]:
    address = place - binary.offset + binary.start
    return tuple(replace(one, address=address, binary=binary) for one in frames)
