"""Answers questions about one file; runs in the worker, on any file it is given."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from nemutator_common.profiles.grade import Verdict
from nemutator_common.profiles.model import Frame, FrameTable

from nemutator_agent.inspection.bounded_file import ReadAt, TooMuchError
from nemutator_agent.inspection.elf import NotElfError
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.symbols import calls, debug_files, kallsyms, native, perf_map
from nemutator_agent.profiler.symbols.build_ids import build_id
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import (
    EFFORT,
    EXECUTABLE,
    DamagedError,
    Effort,
    Image,
)
from nemutator_agent.profiler.symbols.messages import (
    LONGEST_TEXT,
    Note,
    SymbolAnswer,
    SymbolQuestion,
)
from nemutator_agent.profiler.symbols.pclntab import NoGoTableError, TooOldError

_PIECE = 256 << 10


class Executable:
    """Never fails on what the file holds: it answers less."""

    def __init__(self, read_at: ReadAt, *, effort: int = EFFORT) -> None:
        """*effort* is what each answer may cost."""
        self._effort = effort
        self._image: Image | None = None
        self._go: GoSymbols | None = None
        self._notes: tuple[Note, ...] = ()
        self._build_id = self._debug_link = ""
        try:
            self._image = Image(read_at)
            self._build_id = build_id(self._image)
            self._debug_link = debug_files.link(self._image)
            self._go = GoSymbols(self._image)
        except NotElfError:
            self._notes = ("no_elf",)
        except NoGoTableError:
            pass
        except TooOldError:
            self._notes = ("go_too_old",)
        except DamagedError:
            self._notes = ("go_damaged",)
        except TooMuchError:
            self._notes = ("too_much",)
        else:
            self._notes = () if self._go.inlines else ("no_inlines",)

    def answer(self, question: SymbolQuestion) -> SymbolAnswer:
        if self._image is None:
            return _answer(question, {}, {}, notes=self._notes)
        image, go = self._image, self._go
        image.effort.renew(self._effort)
        notes = self._notes
        if question.is_debug_file:
            addresses = {place: place for place in question.places}
        else:
            code = {place: image.address_of(place, flags=EXECUTABLE) for place in question.places}
            addresses = {place: address for place, address in code.items() if address is not None}
        known: dict[int, tuple[Frame, ...]] = {}
        depths: dict[int, int] = {}
        judged: dict[tuple[int, int], Verdict] = {}
        try:
            for place, address in addresses.items():
                if go is not None and go.covers(address):
                    with contextlib.suppress(DamagedError):
                        known[place] = go.frames(address)
            for place in question.depths:
                if go is not None and place in addresses:
                    with contextlib.suppress(DamagedError):
                        depths[place] = go.depth(addresses[place])
            others = {place: at for place, at in addresses.items() if place not in known}
            named = native.functions(image, sorted(set(others.values())))
            known |= {place: (named[at],) for place, at in others.items() if at in named}
            judged = calls.verdicts(image, go, question.calls)
        except TooMuchError:
            # What was found until then is true.
            notes = (*notes, "too_much") if "too_much" not in notes else notes
        return _answer(
            question,
            known,
            depths,
            judged,
            notes=notes,
            text=None if go is None else _range(image, go),
            build_id=self._build_id,
            shift=image.shift,
            debug_link=self._debug_link,
        )


def kernel(read_at: ReadAt, question: SymbolQuestion) -> SymbolAnswer:
    """Answer from the kernel's list of symbols."""
    try:
        named = kallsyms.functions(_pieces(read_at), sorted(set(question.places)))
    except kallsyms.AddressesHiddenError:
        return _answer(question, {}, {}, notes=("hidden",))
    return _answer(question, {place: (frame,) for place, frame in named.items()}, {})


def compiled(read_at: ReadAt, question: SymbolQuestion) -> SymbolAnswer:
    """Answer from the end of the names that a process has written."""
    size = question.id.size if question.id is not None else 0
    first = max(0, size - perf_map.LARGEST)
    wanted = sorted(set(question.places))
    named, whole = perf_map.functions(_pieces(read_at, first), wanted, Effort())
    notes: list[Note] = ["cut"] if first else []
    if not whole:
        notes.append("too_much")
    known = {place: (frame,) for place, frame in named.items()}
    return _answer(question, known, {}, notes=tuple(notes))


def _answer(
    question: SymbolQuestion,
    known: Mapping[int, tuple[Frame, ...]],
    depths: Mapping[int, int],
    judged: Mapping[tuple[int, int], Verdict] = MappingProxyType({}),
    *,
    notes: tuple[Note, ...] = (),
    text: tuple[int, int] | None = None,
    build_id: str = "",
    shift: int = 0,
    debug_link: str = "",
) -> SymbolAnswer:
    table = FrameTable()
    places = tuple(
        tuple(table.number(_cut(frame)) for frame in known[place]) if place in known else None
        for place in question.places
    )
    found = tuple(depths.get(place, -1) for place in question.depths)
    verdicts = tuple(judged.get(call, "unread") for call in question.calls)
    return SymbolAnswer(
        table.frames, places, found, text, notes, build_id, shift, verdicts, debug_link
    )


def _range(image: Image, go: GoSymbols) -> tuple[int, int]:
    first = image.offset_of(go.first)
    return first, first + go.end - go.first


def _pieces(read_at: ReadAt, offset: int = 0) -> Iterator[bytes]:
    while piece := read_at(offset, _PIECE):
        yield piece
        offset += len(piece)


def _cut(frame: Frame) -> Frame:
    """The frame with names that are neither too long nor steer a terminal."""
    function = printable(frame.function, longest=LONGEST_TEXT)
    file = printable(frame.file, longest=LONGEST_TEXT)
    if (function, file) == (frame.function, frame.file):
        return frame
    return replace(frame, function=function, file=file)
