"""Answers questions about one file; runs in the worker, on any file it is given."""

from collections.abc import Iterator

from nemutator_common.profiles.model import Frame, FrameTable

from nemutator_agent.inspection.bounded_file import ReadAt, TooMuchError
from nemutator_agent.inspection.elf import NotElfError
from nemutator_agent.profiler.symbols import kallsyms, native
from nemutator_agent.profiler.symbols.build_ids import build_id
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import EXECUTABLE, DamagedError, Image
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

    def __init__(self, read_at: ReadAt) -> None:
        self._image: Image | None = None
        self._go: GoSymbols | None = None
        self._notes: tuple[Note, ...] = ()
        self._build_id = ""
        try:
            self._image = Image(read_at)
            self._build_id = build_id(self._image)
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
            nothing = (None,) * len(question.places)
            return SymbolAnswer((), nothing, (-1,) * len(question.depths), None, self._notes)
        self._image.effort.renew()
        notes = list(self._notes)
        table = FrameTable()
        known: dict[int, tuple[Frame, ...]] = {}
        depths: dict[int, int] = {}
        try:
            known = self._go_frames(question.places)
            depths = {place: self._depth(place) for place in question.depths}
            known |= self._native_frames([one for one in question.places if one not in known])
        except TooMuchError:
            notes.append("too_much")
        places = tuple(
            tuple(table.number(_cut(frame)) for frame in known[place]) if place in known else None
            for place in question.places
        )
        return SymbolAnswer(
            table.frames,
            places,
            tuple(depths.get(place, -1) for place in question.depths),
            self._text(),
            tuple(dict.fromkeys(notes)),
            self._build_id,
            self._image.shift,
        )

    def _go_frames(self, places: tuple[int, ...]) -> dict[int, tuple[Frame, ...]]:
        found = {}
        for place in places:
            address = self._address(place)
            if self._go is None or address is None or not self._go.covers(address):
                continue
            try:
                found[place] = self._go.frames(address)
            except DamagedError:
                continue
        return found

    def _depth(self, place: int) -> int:
        address = self._address(place)
        if self._go is None or address is None:
            return -1
        try:
            return self._go.depth(address)
        except DamagedError:
            return -1

    def _native_frames(self, places: list[int]) -> dict[int, tuple[Frame, ...]]:
        addresses = {place: self._address(place) for place in places}
        wanted = sorted({address for address in addresses.values() if address is not None})
        if self._image is None or not wanted:
            return {}
        named = native.functions(self._image, wanted)
        return {
            place: (named[address],)
            for place, address in addresses.items()
            if address is not None and address in named
        }

    def _address(self, place: int) -> int | None:
        return None if self._image is None else self._image.address_of(place, flags=EXECUTABLE)

    def _text(self) -> tuple[int, int] | None:
        if self._go is None or self._image is None:
            return None
        first = self._image.offset_of(self._go.first)
        return first, first + self._go.end - self._go.first


def kernel(read_at: ReadAt, question: SymbolQuestion) -> SymbolAnswer:
    """Answer from the kernel's list of symbols."""
    wanted = sorted(set(question.places))
    notes: tuple[Note, ...] = ()
    named: dict[int, Frame] = {}
    try:
        named = kallsyms.functions(_pieces(read_at), wanted)
    except kallsyms.AddressesHiddenError:
        notes = ("hidden",)
    table = FrameTable()
    places = tuple(
        (table.number(_cut(named[place])),) if place in named else None for place in question.places
    )
    return SymbolAnswer(
        table.frames,
        places,
        (-1,) * len(question.depths),
        None,
        notes,
    )


def _pieces(read_at: ReadAt) -> Iterator[bytes]:
    offset = 0
    while piece := read_at(offset, _PIECE):
        yield piece
        offset += len(piece)


def _cut(frame: Frame) -> Frame:
    if len(frame.function) <= LONGEST_TEXT and len(frame.file) <= LONGEST_TEXT:
        return frame
    return Frame(
        frame.function[:LONGEST_TEXT],
        frame.file[:LONGEST_TEXT],
        frame.line,
        frame.start_line,
        frame.kind,
        frame.inlined,
    )
