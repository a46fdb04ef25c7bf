"""What was learnt of files, for the next profile of the same programs: bounded, the oldest goes first."""

from collections import OrderedDict
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_common.profiles.model import Binary, Frame

from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.messages import Note, SymbolAnswer, SymbolQuestion

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST_PLACES = 8192
"""The most places with their frames, about 4 MiB. A profile has about two thousand places."""
MOST_FILES = 512


@dataclass(frozen=True, slots=True)
class LearntPlace:
    """What is known of one place in a file."""

    frames: tuple[Frame, ...] | None
    depth: int | None
    """None where it was not asked for."""


@dataclass(frozen=True, slots=True)
class LearntFile:
    """What is known of a whole file."""

    text: tuple[int, int] | None = None
    notes: tuple[Note, ...] = ()
    build_id: str = ""
    shift: int = 0
    debug_link: str = ""

    def mapped(self, mapping: Mapping) -> Binary:
        """At the addresses of the file itself, as `nm` shows them: they are the same in all processes,
        and do not show where a living process has its code."""
        start = mapping.offset + self.shift
        limit = start + mapping.end - mapping.start
        return Binary(mapping.shown_path, self.build_id, start, limit, mapping.offset)


@dataclass(eq=False, slots=True)
class LearntNames:
    """Of files, by what each was when it was open."""

    _places: OrderedDict[tuple[FileId, int], LearntPlace] = field(
        default_factory=OrderedDict, init=False
    )
    _files: OrderedDict[FileId, LearntFile] = field(default_factory=OrderedDict, init=False)

    def place(self, file: FileId, place: int, *, with_depth: bool) -> LearntPlace | None:
        """None where it has to be asked for."""
        known = self._places.get((file, place))
        if known is None or (with_depth and known.depth is None):
            return None
        self._places.move_to_end((file, place))
        return known

    def file(self, file: FileId) -> LearntFile | None:
        return self._files.get(file)

    def learn_file(self, file: FileId, answer: SymbolAnswer) -> None:
        about = LearntFile(
            answer.text, answer.notes, answer.build_id, answer.shift, answer.debug_link
        )
        _put(self._files, file, about, MOST_FILES)

    def learn_places(
        self, file: FileId, question: SymbolQuestion, answer: SymbolAnswer
    ) -> Map[int, LearntPlace]:
        depths = dict(zip(question.depths, answer.depths, strict=True))
        learnt = {}
        for place, stack in zip(question.places, answer.places, strict=True):
            frames = None if stack is None else tuple(answer.frames[one] for one in stack)
            learnt[place] = LearntPlace(frames, depths.get(place))
            _put(self._places, (file, place), learnt[place], MOST_PLACES)
        return learnt


def _put(known: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> None:
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)
