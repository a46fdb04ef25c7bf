"""A profile as a tree of boxes, in columns, which the flame graph's page draws.

Stacks are sorted from the outermost frame, so that equal prefixes are adjacent and a box is a range
of rows: only boxes that will be visible are ever made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from nemutator_common.profiles.difference import Difference
from nemutator_common.profiles.model import Frame, FrameKind, WeighedStacks

SMALLEST_SHARE = 0.001
"""The share of all samples below which a box is thinner than a pixel of most screens."""

DEEPEST = 512
MOST_BOXES = 100_000

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


def boxes(profile: WeighedStacks, *, everything: str) -> tuple[Boxes, int]:
    """All visible boxes, the first of which is named *everything*, and the number of the others."""
    keys = sorted({_key(frame) for frame in profile.frames})
    places = {key: place for place, key in enumerate(keys)}
    frames = [places[_key(frame)] for frame in profile.frames]
    rows = sorted(
        (tuple(frames[number] for number in reversed(stack)), -count, stack, before)
        for (stack, count), before in zip(profile.stacks, _before(profile), strict=True)
    )
    total = sum(-count for _, count, _, _ in rows)
    drawn, left_out = _Layout(profile, keys, rows, total).laid_out(everything)
    if not isinstance(profile, Difference):
        drawn.before.clear()
    return drawn, left_out


def _before(profile: WeighedStacks) -> Sequence[int]:
    if isinstance(profile, Difference):
        return [before for _, before, _ in profile.rows]
    return [0] * len(profile.stacks)


def _key(frame: Frame) -> _Key:
    """Frames with equal keys share a box; the line is not part of the key."""
    return (frame.function, frame.file, frame.kind, frame.inlined)


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
        self._left_out = 0

    def laid_out(self, everything: str) -> tuple[Boxes, int]:
        waiting = [(0, len(self._rows), 0, -1, self._total)]
        while waiting:
            first, end, depth, key, samples = waiting.pop()
            if len(self._boxes.depth) >= MOST_BOXES:
                self._left_out += 1
                continue
            self._add(first, depth, key, samples, everything)
            self._boxes.before.append(self._before[end] - self._before[first])
            within = self._within(first, end, depth)
            waiting.extend(reversed(within))
        self._boxes.strings.extend(self._strings)
        return self._boxes, self._left_out

    def _within(self, first: int, end: int, depth: int) -> list[tuple[int, int, int, int, int]]:
        """The boxes directly below one box, each with its range of rows."""
        found = []
        at = first
        while at < end:
            key = self._rows[at][0][depth] if depth < len(self._rows[at][0]) else None
            samples, begin = 0, at
            while at < end and self._at(at, depth) == key:
                samples -= self._rows[at][1]
                at += 1
            if key is None:
                continue
            if samples < self._total * SMALLEST_SHARE or depth >= DEEPEST:
                self._left_out += 1
            else:
                found.append((begin, at, depth + 1, key, samples))
        return found

    def _at(self, row: int, depth: int) -> int | None:
        stack = self._rows[row][0]
        return stack[depth] if depth < len(stack) else None

    def _add(self, row: int, depth: int, key: int, samples: int, everything: str) -> None:
        out = self._boxes
        out.depth.append(depth)
        out.samples.append(samples)
        if key < 0:
            name, file, kind, inlined, line = everything, "", "unknown", False, 0
        else:
            name, file, kind, inlined = self._keys[key]
            line = self._profile.frames[self._rows[row][2][-depth]].line
        out.name.append(self._strings.setdefault(name, len(self._strings)))
        out.file.append(self._strings.setdefault(file, len(self._strings)))
        out.line.append(line)
        place = _PLACES[kind]
        out.kind.append(-1 - place if inlined else place)
