"""Names for the addresses of a whole profile: which file each lies in, and what the worker says of it.

What was learnt of a file is kept by what that file was when it was open, so that the next profile of
the same program asks little. A file that makes the worker fail is asked nothing more in this one.
"""

import asyncio
import functools
import logging
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Protocol, TypeVar

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
from nemutator_agent.profiler.raw import RawProfile, RawRow, Task
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    Note,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    encode_question,
)
from nemutator_agent.profiler.symbols.named_profile import (
    AddressNames,
    assembled,
    callers,
    looked_up,
)
from nemutator_agent.profiler.symbols.notes import sentences

Key = TypeVar("Key")
Value = TypeVar("Value")

log = logging.getLogger(__name__)

MOST_CACHED = 8192
"""Places with their frames: some 4 MiB. A profile has about two thousand."""
MOST_FILES = 512
MOST_PLACES = 100_000
"""The limit of one profile: further places get no names. Busy profiles have some thousands."""
LONGEST_S = 60.0
"""Time for the names of one profile. A real one takes a second; forged files each take a little."""
MOST_FAILURES = 3
"""Failures of the worker in one profile. Each may take as long as its deadline."""

GONE = Frame("[gone]")
HIDDEN = Frame("[hidden]")
VDSO = Frame("[vdso]", kind="native", binary=Binary("[vdso]"))


@dataclass(frozen=True, slots=True)
class OpenFile:
    file: int
    id: FileId


class MappedFiles(Protocol):
    """All raise ProcessGoneError, HiddenFileError or FileSystemStuckError; who opens a file closes it."""

    async def mappings(self, pid: int) -> Mappings: ...

    async def open(self, pid: int, mapping: Mapping) -> OpenFile: ...

    async def open_kernel(self) -> OpenFile: ...

    def close(self, file: OpenFile) -> None: ...


@dataclass(frozen=True, slots=True)
class _Place:
    """What is known of one place in a file."""

    frames: tuple[Frame, ...] | None
    depth: int | None
    """None when it was not asked."""


@dataclass(frozen=True, slots=True)
class _File:
    """What is known of a whole file."""

    text: tuple[int, int] | None = None
    notes: tuple[Note, ...] = ()
    build_id: str = ""
    shift: int = 0

    def mapped(self, mapping: Mapping) -> Binary:
        """At the addresses that the file itself says, as `nm` shows them: so it is the same in all
        processes, and nobody learns where a living one has it."""
        start = mapping.offset + self.shift
        limit = start + mapping.end - mapping.start
        return Binary(mapping.shown_path, self.build_id, start, limit, mapping.offset)


async def ask(worker: Worker, question: SymbolQuestion, file: int) -> SymbolAnswer:
    """Raises WorkerFailedError."""
    decode = functools.partial(decode_answer, question=question)
    return await worker.ask(encode_question(question), file, decode)


@dataclass(eq=False, slots=True)
class WorkerSymboliser:
    """Fulfils `Symboliser` and `GoTexts`. One profile at a time."""

    files: MappedFiles
    worker: Worker
    process: Process
    _: KW_ONLY
    longest_s: float = LONGEST_S
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _cache: OrderedDict[tuple[FileId, int], _Place] = field(default_factory=OrderedDict, init=False)
    _known: OrderedDict[FileId, _File] = field(default_factory=OrderedDict, init=False)

    async def range_of(self, pid: int) -> tuple[int, int] | None:
        async with self._turn:
            try:
                mappings = await self.files.mappings(pid)
                # A program is mapped below its libraries.
                first = next((one for one in mappings if one.inode), None)
                if first is None:
                    return None
                text = await self._text(pid, first)
            except (ProcessGoneError, HiddenFileError, FileSystemStuckError, WorkerFailedError):
                return None
        for mapping in mappings:
            same = (mapping.inode, mapping.path) == (first.inode, first.path)
            if same and text and 0 <= text[0] - mapping.offset < mapping.end - mapping.start:
                begin = mapping.start + text[0] - mapping.offset
                return begin, begin + text[1] - text[0]
        return None

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        async with self._turn:
            session = _Session(raw)
            try:
                async with asyncio.timeout(self.longest_s):
                    # The kernel first: it answers truthfully and soon.
                    await self._kernel(session)
                    for task in sorted(session.tasks):
                        await self._process(session, task)
            except TimeoutError:
                session.notes.setdefault("this profile", set()).add("late")
            finally:
                # It would hold its memory until the next profile, which may never come.
                self.worker.stop()
        for kind, count in session.kinds().items():
            self.process.meter.count(names.PROFILE_PLACES, count, kind=kind)
        notes = sentences(session.notes, gone=session.gone, unnamed=session.unnamed())
        return pprof.encode(assembled(raw, session.names, notes=notes, labels={})), notes

    def stop(self) -> None:
        """End the worker, which may wait for a profile that did not come."""
        self.worker.stop()

    # --- a process -------------------------------------------------------------------------------
    async def _process(self, session: "_Session", task: Task) -> None:
        wanted, leaves = session.wanted(task)
        try:
            mappings = await self._mappings(task)
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError) as failure:
            frame = GONE if isinstance(failure, ProcessGoneError) else HIDDEN
            if frame is GONE:
                session.gone += 1
            else:
                session.notes.setdefault("the memory of a process", set()).add("closed")
            session.names.user |= {(task, pc): (frame,) for pc in wanted}
            return
        by_mapping: dict[Mapping, list[int]] = {}
        for pc in wanted:
            mapping = mappings.at(pc)
            if mapping is not None:
                by_mapping.setdefault(mapping, []).append(pc)
        for mapping, pcs in by_mapping.items():
            await self._mapping(session, task, mapping, pcs, leaves)

    async def _mappings(self, task: Task) -> Mappings:
        pid, image = task
        mappings = await self.files.mappings(pid)
        if not mappings.are_of(image):
            raise ProcessGoneError
        return mappings

    async def _mapping(
        self, session: "_Session", task: Task, mapping: Mapping, pcs: list[int], leaves: set[int]
    ) -> None:
        nameless = Frame(f"[unknown in {mapping.named}]")
        places = {pc: pc - mapping.start + mapping.offset for pc in pcs}
        known: dict[int, _Place] = {}
        if mapping.inode:
            deep = {places[pc] for pc in pcs if pc in leaves}
            known = await self._places(
                session, task[0], mapping, sorted(set(places.values())), deep
            )
        elif mapping.named == VDSO.function:
            nameless = VDSO
        for pc, place in places.items():
            found = known.get(place)
            frames = found.frames if found is not None else None
            session.names.user[task, pc] = (nameless,) if frames is None else frames
            if found is not None and found.depth is not None and pc in leaves:
                session.names.depths[task, pc] = found.depth

    async def _places(
        self,
        session: "_Session",
        pid: int,
        mapping: Mapping,
        places: list[int],
        deep: set[int],
    ) -> dict[int, _Place]:
        try:
            file = await self.files.open(pid, mapping)
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError) as failure:
            if not isinstance(failure, ProcessGoneError):
                why = "stuck" if isinstance(failure, FileSystemStuckError) else "closed"
                session.notes.setdefault(mapping.named, set()).add(why)
            return {}
        try:
            return await self._asked(session, file, mapping, places, deep)
        finally:
            self.files.close(file)

    async def _asked(
        self,
        session: "_Session",
        file: OpenFile,
        mapping: Mapping,
        places: list[int],
        deep: set[int],
    ) -> dict[int, _Place]:
        known: dict[int, _Place] = {}
        for place in places:
            kept = self._cache.get((file.id, place))
            if kept is not None and (kept.depth is not None or place not in deep):
                self._cache.move_to_end((file.id, place))
                known[place] = kept
        missing = [place for place in places if place not in known]
        for start in range(0, len(missing), MOST_ADDRESSES):
            if file.id in session.failed or session.failures >= MOST_FAILURES:
                break
            some = missing[start : start + MOST_ADDRESSES]
            question = SymbolQuestion(False, tuple(some), tuple(one for one in some if one in deep))
            try:
                answer = await self._answer(question, file)
            except WorkerFailedError:
                session.failures += 1
                session.failed.add(file.id)
                session.notes.setdefault(mapping.named, set()).add("failed")
                break
            self._learn(file.id, question, answer, known)
        about = self._known.get(file.id, _File())
        if about.notes:
            session.notes.setdefault(mapping.named, set()).update(about.notes)
        binary = about.mapped(mapping)
        return {place: _in(binary, place, found) for place, found in known.items()}

    def _learn(
        self, file: FileId, question: SymbolQuestion, answer: SymbolAnswer, known: dict[int, _Place]
    ) -> None:
        depths = dict(zip(question.depths, answer.depths, strict=True))
        for place, stack in zip(question.places, answer.places, strict=True):
            frames = None if stack is None else tuple(answer.frames[one] for one in stack)
            known[place] = _Place(frames, depths.get(place))
            _cache_put(self._cache, (file, place), known[place], MOST_CACHED)

    async def _text(self, pid: int, mapping: Mapping) -> tuple[int, int] | None:
        file = await self.files.open(pid, mapping)
        try:
            if file.id not in self._known:
                await self._answer(SymbolQuestion(False), file)
            return self._known[file.id].text
        finally:
            self.files.close(file)

    async def _answer(self, question: SymbolQuestion, file: OpenFile) -> SymbolAnswer:
        try:
            answer = await ask(self.worker, question, file.file)
        except WorkerFailedError as failure:
            self.process.meter.count(names.SYMBOL_QUESTIONS, result=failure.reason)
            log.warning("symbols_failed", {names.REASON: failure.reason})
            raise
        self.process.meter.count(names.SYMBOL_QUESTIONS, result="answered")
        if not question.kernel:
            about = _File(answer.text, answer.notes, answer.build_id, answer.shift)
            _cache_put(self._known, file.id, about, MOST_FILES)
        return answer

    # --- the kernel ------------------------------------------------------------------------------
    async def _kernel(self, session: "_Session") -> None:
        wanted = sorted({pc for row in session.raw.rows for pc in looked_up(row.kernel)})
        if not wanted:
            return
        try:
            file = await self.files.open_kernel()
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            session.notes.setdefault("the kernel", set()).add("hidden")
            return
        try:
            for start in range(0, len(wanted), MOST_ADDRESSES):
                question = SymbolQuestion(True, tuple(wanted[start : start + MOST_ADDRESSES]))
                answer = await self._answer(question, file)
                for pc, stack in zip(question.places, answer.places, strict=True):
                    if stack:
                        session.names.kernel[pc] = answer.frames[stack[0]]
                session.notes.setdefault("the kernel", set()).update(answer.notes)
        except WorkerFailedError:
            session.notes.setdefault("the kernel", set()).add("failed")
        finally:
            self.files.close(file)


class _Session:
    """What is gathered for one profile."""

    def __init__(self, raw: RawProfile) -> None:
        self.raw = raw
        self.tasks: dict[Task, list[RawRow]] = {}
        for row in raw.rows:
            if row.user:
                self.tasks.setdefault(row.task, []).append(row)
        self.names = AddressNames()
        self.notes: dict[str, set[str]] = {}
        """By the name of a file."""
        self.failed: set[FileId] = set()
        self.failures = 0
        self.gone = 0
        """Processes."""

    def wanted(self, task: Task) -> tuple[list[int], set[int]]:
        """Addresses of a process, and those of them whose depth decides about a caller."""
        pcs: dict[int, None] = {}
        leaves = set()
        for row in self.tasks[task]:
            pcs |= dict.fromkeys(looked_up(row.user))
            words = callers(row)
            if words:
                leaves.add(row.user[0])
                pcs |= dict.fromkeys(word - 1 for word in words)
        some = list(pcs)[: MOST_PLACES - len(self.names.user)]
        if len(some) < len(pcs):
            self.notes.setdefault("this profile", set()).add("late")
        return some, leaves

    def kinds(self) -> "Counter[str]":
        return Counter(frame.kind for frame in self._leaves())

    def unnamed(self) -> tuple[int, int]:
        """Places without a name, and all places."""
        kinds = self.kinds()
        return kinds["unknown"], kinds.total()

    def _leaves(self) -> Iterable[Frame]:
        for frames in self.names.user.values():
            yield from frames[:1]
        yield from self.names.kernel.values()


def _in(binary: Binary, place: int, found: _Place) -> _Place:
    if found.frames is None:
        return found
    address = place - binary.offset + binary.start
    frames = (replace(one, address=address, binary=binary) for one in found.frames)
    return _Place(tuple(frames), found.depth)


def _cache_put(cache: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> None:
    cache[key] = value
    cache.move_to_end(key)
    if len(cache) > most:
        cache.popitem(last=False)
