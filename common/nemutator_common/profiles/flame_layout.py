"""A profile as a tree of boxes, in columns, which the flame graph's page draws.

Stacks are sorted from the outermost frame, so that equal prefixes are adjacent and a box is a range
of rows: only boxes that will be visible are ever made, the largest first, until the page is full.
"""

import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from nemutator_common.profiles.difference import Difference
from nemutator_common.profiles.model import Frame, FrameKind, WeighedStacks

SMALLEST_SHARE = 0.001
"""The share of all samples below which a box is thinner than a pixel of most screens."""

DEEPEST = 512

LONGEST_NAME = 1_000
"""Characters of a name: one that is longer ends in an ellipsis."""

NUMBERS = 35
"""Characters that the columns take for a box, beside those of its amounts."""

KINDS: tuple[FrameKind, ...] = ("go", "native", "kernel", "unknown")
_PLACES: dict[str, int] = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Boxes:
    """One row for each box, a parent before its children, in the order of their names."""

    strings: list[str] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)
    """Indexes into `strings`, like those in `file`."""
    file: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    """The line that has most of the samples, or that of the first sample."""
    kind: list[int] = field(default_factory=list)
    """Indexes into KINDS; an inlined frame has a negative number, which is -1 - index."""
    before: list[int] = field(default_factory=list)
    """Of a difference: how many of `samples` were there before. Empty for one profile."""


_Key = tuple[str, str, FrameKind, bool]


def boxes(profile: WeighedStacks, *, everything: str, room: int) -> tuple[Boxes, int]:
    """The visible boxes, the first of which is named *everything*, and the number of the others.

    *room*: how many characters they may take as JSON; the largest boxes have it, and the first one always.
    """
    of_frames = [_key(frame) for frame in profile.frames]
    keys = sorted(set(of_frames))
    places = {key: place for place, key in enumerate(keys)}
    frames = [places[key] for key in of_frames]
    rows = sorted(
        (tuple(frames[number] for number in reversed(stack)), -count, stack, before)
        for (stack, count), before in zip(profile.stacks, _before(profile), strict=True)
    )
    total = sum(-count for _, count, _, _ in rows)
    drawn, left_out = _Layout(profile, keys, rows, total).laid_out(everything, room)
    if not isinstance(profile, Difference):
        drawn.before.clear()
    return drawn, left_out


def _before(profile: WeighedStacks) -> Sequence[int]:
    if isinstance(profile, Difference):
        return [before for _, before, _ in profile.rows]
    return [0] * len(profile.stacks)


def _key(frame: Frame) -> _Key:
    """Frames with equal keys share a box; the line is not part of the key."""
    return (short(frame.function), short(frame.file), frame.kind, frame.inlined)


def short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def embedded(data: object) -> str:
    """JSON that cannot end its own element, whatever the names are; it is escaped to ASCII, too."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class _Box(NamedTuple):
    """In the order in which boxes are chosen; sorted by row and depth, a parent is before its children."""

    falling: int
    """Its samples, less than 0."""
    depth: int
    first: int
    end: int
    """The rows that are in it."""
    key: int


class _Layout:
    def __init__(
        self,
        profile: WeighedStacks,
        keys: list[_Key],
        rows: list[tuple[tuple[int, ...], int, tuple[int, ...], int]],
        total: int,
    ) -> None:
        self._profile = profile
        self._keys = keys
        self._rows = rows
        self._total = total
        self._before = [0, *accumulate(before for _, _, _, before in rows)]
        self._boxes = Boxes()
        self._strings: dict[str, int] = {}
        self._sized: set[str] = set()
        self._left_out = 0

    def laid_out(self, everything: str, room: int) -> tuple[Boxes, int]:
        """The largest first; a box is never larger than the one above it."""
        waiting = [_Box(-self._total, 0, 0, len(self._rows), -1)]
        chosen: list[_Box] = []
        while waiting:
            box = heapq.heappop(waiting)
            room -= self._size(box, everything)
            if room < 0 and chosen:
                self._left_out += 1 + len(waiting)
                break
            chosen.append(box)
            for within in self._within(box):
                heapq.heappush(waiting, within)
        chosen.sort(key=lambda box: (box.first, box.depth))
        for box in chosen:
            self._add(box, everything)
        self._boxes.strings.extend(self._strings)
        return self._boxes, self._left_out

    def _within(self, box: _Box) -> Iterator[_Box]:
        """The boxes directly below one box."""
        at, depth = box.first, box.depth
        while at < box.end:
            key = self._at(at, depth)
            samples, first = 0, at
            while at < box.end and self._at(at, depth) == key:
                samples -= self._rows[at][1]
                at += 1
            if key is None:
                continue
            if samples < self._total * SMALLEST_SHARE or depth >= DEEPEST:
                self._left_out += 1
            else:
                yield _Box(-samples, depth + 1, first, at, key)

    def _at(self, row: int, depth: int) -> int | None:
        stack = self._rows[row][0]
        return stack[depth] if depth < len(stack) else None

    def _before_of(self, box: _Box) -> int:
        return self._before[box.end] - self._before[box.first]

    def _names(self, box: _Box, everything: str) -> tuple[str, str]:
        return (everything, "") if box.key < 0 else self._keys[box.key][:2]

    def _size(self, box: _Box, everything: str) -> int:
        """Characters that it takes, with those of its names that no box before it has."""
        size = NUMBERS + len(f"{-box.falling}{self._before_of(box)}")
        for text in self._names(box, everything):
            if text not in self._sized:
                self._sized.add(text)
                size += len(embedded(text)) + 1
        return size

    def _add(self, box: _Box, everything: str) -> None:
        out = self._boxes
        kind: FrameKind = "unknown"
        inlined, line = False, 0
        if box.key >= 0:
            _, _, kind, inlined = self._keys[box.key]
            line = self._profile.frames[self._rows[box.first][2][-box.depth]].line
        name, file = self._names(box, everything)
        out.depth.append(box.depth)
        out.samples.append(-box.falling)
        out.before.append(self._before_of(box))
        out.name.append(self._strings.setdefault(name, len(self._strings)))
        out.file.append(self._strings.setdefault(file, len(self._strings)))
        out.line.append(line)
        place = _PLACES[kind]
        out.kind.append(-1 - place if inlined else place)
