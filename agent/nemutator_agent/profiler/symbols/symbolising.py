"""Names for the addresses of a whole profile: in which file each lies, and the worker's answers about it.

What was learnt of a file is cached by what that file was when it was open, so that the next profile
of the same program asks little. Files that were seen most are read first, and a file that makes the
worker fail is left alone in this profile.
"""

import asyncio
import functools
import logging
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Binary, Frame

from nemutator_agent.inspection.executables import Worker
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.raw import RawProfile, RawRow, SeenProgram, Task
from nemutator_agent.profiler.symbols import debug_files
from nemutator_agent.profiler.symbols.blocked_profile import blocked
from nemutator_agent.profiler.symbols.call_checking import MOST_CALLS, CallChecking
from nemutator_agent.profiler.symbols.keeping import KeptPrograms
from nemutator_agent.profiler.symbols.learnt_names import LearntFile, LearntNames, LearntPlace
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    encode_question,
)
from nemutator_agent.profiler.symbols.named_profile import AddressNames, assembled, looked_up
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
MOST_CPU_S = 120.0
"""CPU time of the worker for one profile. A true one takes half a second, and half a minute on an
emulated machine; forged files each take a little."""
LONGEST_S = 180.0
"""No question is asked any later. The brain waits for longer."""
MOST_FAILURES = 3
"""Failures of the worker in one profile."""

GONE = Frame("[gone]")
HIDDEN = Frame("[hidden]")
VDSO = Frame("[vdso]", kind="native", binary=Binary("[vdso]"))


class SymbolWorker(Worker, Protocol):
    @property
    def cpu_s(self) -> float:
        """CPU time of all answers so far."""
        ...


async def ask(worker: Worker, question: SymbolQuestion, file: int) -> SymbolAnswer:
    """Raises WorkerFailedError."""
    decode = functools.partial(decode_answer, question=question)
    return await worker.ask(encode_question(question), file, decode)


@dataclass(eq=False, slots=True)
class WorkerSymboliser:
    """A `Symboliser` that is also `ExecutableCode`. One profile at a time."""

    files: MappedFiles
    worker: SymbolWorker
    process: Process
    _kept: KeptPrograms = field(init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _learnt: LearntNames = field(default_factory=LearntNames, init=False)
    _calls: CallChecking = field(default_factory=CallChecking, init=False)

    def __post_init__(self) -> None:
        self._kept = KeptPrograms(self.files)

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
            session = self._session()
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
            session = self._session()
            try:
                await self._tasks(session, [wanted])
            finally:
                self.worker.stop()
        return {pc: frames for (_, pc), frames in session.names.user.items()}, self._notes(session)

    async def names_of(self, rows: Iterable[RawRow]) -> AddressNames:
        """The names of what processes ran in these rows, without those of the kernel."""
        async with self._turn:
            session = self._session()
            try:
                await self._tasks(session, by_task(rows))
            finally:
                self.worker.stop()
        return session.names

    async def rest(self) -> None:
        """End the worker once nobody asks it: it may wait for a profile that did not come."""
        async with self._turn:
            self.worker.stop()

    def _session(self) -> "_Session":
        return _Session(self.process.clock.monotonic() + LONGEST_S, self.worker.cpu_s + MOST_CPU_S)

    def _notes(self, session: "_Session") -> tuple[str, ...]:
        kinds = session.names.kinds()
        for kind, count in kinds.items():
            self.process.meter.count(names.PROFILE_PLACES, count, kind=kind)
        unnamed = (kinds["unknown"], kinds.total())
        return sentences(session.notes, gone=session.gone, unnamed=unnamed, by_file=session.unnamed)

    async def _tasks(self, session: "_Session", tasks: Iterable[TaskAddresses]) -> None:
        parts: list[MappedAddresses] = []
        for wanted in tasks:
            parts += await self._mapped(session, wanted)
        for part in most_seen_first(parts):
            if part.mapping.inode or part.mapping.named == VDSO.function:
                await self._name(session, part)
        for task, addresses in of_memory(parts, session.names.user).items():
            await self._compiled(session, task, addresses)
        session.unnamed = without_names(parts, session.names.user)

    # --- a process -------------------------------------------------------------------------------
    async def _mapped(self, session: "_Session", wanted: TaskAddresses) -> list[MappedAddresses]:
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

    async def _name(self, session: "_Session", part: MappedAddresses) -> None:
        if self._is_over(session):
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

    async def _name_from(self, session: "_Session", file: OpenFile, part: MappedAddresses) -> None:
        known = await self._ask_about(session, file, part)
        known |= await self._in_debug_file(session, file, part, known)
        await self._check_calls(session, file, part)
        about = self._learnt.file(file.id) or LearntFile()
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
        session: "_Session",
        file: OpenFile,
        part: MappedAddresses,
        known: Map[int, LearntPlace],
    ) -> dict[int, LearntPlace]:
        """What the file with the symbols of *file*, where the process has one, names beyond *known*."""
        about = self._learnt.file(file.id) or LearntFile()
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
            found = await self._ask_for(
                session, debug, part.mapping.named, sorted(addresses), set(), question
            )
        finally:
            self.files.close(debug)
        if (self._learnt.file(debug.id) or LearntFile()).build_id != about.build_id:
            return {}
        return {addresses[address]: one for address, one in found.items()}

    async def _ask_about(
        self, session: "_Session", file: OpenFile, part: MappedAddresses
    ) -> dict[int, LearntPlace]:
        deep = {part.places[pc] for pc in part.leaves}
        places = sorted(set(part.places.values()))
        return await self._ask_for(
            session, file, part.mapping.named, places, deep, SymbolQuestion(False)
        )

    async def _ask_for(
        self,
        session: "_Session",
        file: OpenFile,
        name: str,
        places: Sequence[int],
        deep: Collection[int],
        question: SymbolQuestion,
    ) -> dict[int, LearntPlace]:
        known: dict[int, LearntPlace] = {}
        missing = []
        for place in places:
            learnt = self._learnt.place(file.id, place, with_depth=place in deep)
            if learnt is None:
                missing.append(place)
            else:
                known[place] = learnt
        for start in range(0, len(missing), MOST_ADDRESSES):
            if file.id in session.failed:
                break
            if self._is_over(session):
                session.note(name, "late")
                break
            some = tuple(missing[start : start + MOST_ADDRESSES])
            depths = tuple(one for one in some if one in deep)
            asked = replace(question, places=some, depths=depths)
            try:
                answer = await self._answer(asked, file)
            except WorkerFailedError as failure:
                session.failed.add(file.id)
                session.failures += 1
                session.note(name, _note_of(failure))
                break
            known |= self._learnt.learn_places(file.id, asked, answer)
        return known

    async def _check_calls(
        self, session: "_Session", file: OpenFile, part: MappedAddresses
    ) -> None:
        async def ask_once(question: SymbolQuestion) -> SymbolAnswer | None:
            if file.id in session.failed or self._is_over(session):
                return None
            try:
                return await self._answer(question, file)
            except WorkerFailedError:
                session.failed.add(file.id)
                session.failures += 1
                return None

        most = max(0, MOST_CALLS - len(session.names.calls))
        judged = await self._calls.verdicts(file.id, part, most=most, ask=ask_once)
        for (caller, callee), verdict in judged.items():
            session.names.calls[part.task, caller, callee] = verdict

    def _is_over(self, session: "_Session") -> bool:
        return (
            session.failures >= MOST_FAILURES
            or self.worker.cpu_s >= session.most_cpu_s
            or self.process.clock.monotonic() >= session.ends_at
        )

    async def _text(self, pid: int, mapping: Mapping) -> tuple[int, int] | None:
        file = await self.files.open(pid, mapping)
        try:
            known = self._learnt.file(file.id)
            if known is None:
                return (await self._answer(SymbolQuestion(False), file)).text
            return known.text
        finally:
            self.files.close(file)

    async def _answer(self, question: SymbolQuestion, file: OpenFile) -> SymbolAnswer:
        try:
            answer = await ask(self.worker, replace(question, id=file.id), file.file)
        except WorkerFailedError as failure:
            self.process.meter.count(names.SYMBOL_QUESTIONS, result=failure.reason)
            log.warning("symbols_failed", {names.REASON: failure.reason})
            raise
        self.process.meter.count(names.SYMBOL_QUESTIONS, result="answered")
        if not question.kernel and not question.perf_map:
            self._learnt.learn_file(file.id, answer)
        return answer

    async def _compiled(self, session: "_Session", task: Task, addresses: list[int]) -> None:
        """Name what a process has compiled itself, where it tells the names."""
        try:
            file = await self.files.open_perf_map(task[0])
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            return
        name, question = f"perf-{task[0]}.map", SymbolQuestion(False, perf_map=True)
        found = await self._in_list(session, name, file, addresses, question)
        session.names.user |= {(task, pc): (frame,) for pc, frame in found.items()}

    # --- the kernel ------------------------------------------------------------------------------
    async def _kernel(self, session: "_Session", raw: RawProfile) -> None:
        wanted = sorted({pc for row in raw.rows for pc in looked_up(row.kernel)})
        if not wanted:
            return
        try:
            file = await self.files.open_kernel()
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            session.note("the kernel", "hidden")
            return
        session.names.kernel |= await self._in_list(
            session, "the kernel", file, wanted, SymbolQuestion(True)
        )

    # --- a list of names -------------------------------------------------------------------------
    async def _in_list(
        self,
        session: "_Session",
        name: str,
        file: OpenFile,
        addresses: Sequence[int],
        question: SymbolQuestion,
    ) -> dict[int, Frame]:
        """What the list *file*, which is closed then, calls *addresses*, as far as there is time."""
        found: dict[int, Frame] = {}
        try:
            for start in range(0, len(addresses), MOST_ADDRESSES):
                if self._is_over(session):
                    session.note(name, "late")
                    break
                some = tuple(addresses[start : start + MOST_ADDRESSES])
                answer = await self._answer(replace(question, places=some), file)
                for pc, stack in zip(some, answer.places, strict=True):
                    if stack:
                        found[pc] = answer.frames[stack[0]]
                for note in answer.notes:
                    session.note(name, note)
        except WorkerFailedError as failure:
            session.failures += 1
            session.note(name, _note_of(failure))
        finally:
            self.files.close(file)
        return found


@dataclass(slots=True)
class _Session:
    """What is gathered for one profile."""

    ends_at: float
    most_cpu_s: float
    names: AddressNames = field(default_factory=AddressNames)
    notes: dict[str, set[str]] = field(default_factory=dict)
    """By the name of a file."""
    unnamed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By the name of a file: how many places have no name, and how often they were seen."""
    failed: set[FileId] = field(default_factory=set)
    failures: int = 0
    ended: set[Task] = field(default_factory=set)
    """Those whose mappings were kept."""
    gone: int = 0
    """Processes of which something has no name because they had ended."""

    def note(self, file: str, note: str) -> None:
        self.notes.setdefault(file, set()).add(note)


def _note_of(failure: WorkerFailedError) -> str:
    if failure.reason == "unconfined":
        return "unconfined"
    return "late" if failure.reason in ("hung", "slow") else "failed"


def _placed(frames: Iterable[Frame], place: int, binary: Binary) -> tuple[Frame, ...]:
    address = place - binary.offset + binary.start
    return tuple(replace(one, address=address, binary=binary) for one in frames)
