"""Writing pprof: each string, function and location once, as they first come up."""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator

from nemutator_common.profiles.model import Binary, Frame, FrameKind, Profile
from nemutator_common.protobuf import Message

# Numbers of the fields of Profile.
SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRINGS = 1, 2, 3, 4, 5, 6
TIME, DURATION, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_TYPE = 9, 10, 11, 12, 13, 14

NANO = 1_000_000_000

PLACEHOLDERS: dict[FrameKind, str] = {
    "go": "[go]",
    "native": "[native]",
    "kernel": "[kernel]",
    "unknown": "[unknown]",
}
"""Files of mappings for frames that are in no binary."""

FUNCTIONS, FILENAMES, LINES, INLINES = 7, 8, 9, 10
"""Flags of a mapping: what is known of its frames. With one of the first three set, `go tool pprof`
looks for no names of its own, in whatever file bears that path where it runs."""

_KNOWN: dict[FrameKind, tuple[int, ...]] = {
    "go": (FUNCTIONS, FILENAMES, LINES, INLINES),
    "native": (FUNCTIONS,),
    "kernel": (FUNCTIONS,),
    "unknown": (FUNCTIONS,),
}

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Tools print names as they are: one may not end its line, or move a terminal's cursor."""

_Place = tuple[Binary | None, FrameKind]
"""What a mapping stands for: one binary has two of them when Go and C are in it."""


def encode(profile: Profile) -> bytes:
    """The same profile gives the same bytes."""
    return gzip.compress(_Writer().profile(profile), mtime=0)


class _Numbered:
    """Rows of a table, each of which is written once and known by its number."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._known: dict[object, int] = {}

    def number(self, key: object, write: Callable[[int], None] = lambda number: None) -> int:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._first + len(self._known)
            write(number)
        return number

    @property
    def keys(self) -> Iterable[object]:
        return self._known


class _Writer:
    def __init__(self) -> None:
        self._out = Message()
        self._strings = _Numbered(0)
        self._functions, self._locations, self._mappings = _Numbered(1), _Numbered(1), _Numbered(1)
        self._string("")

    def profile(self, profile: Profile) -> bytes:
        period = round(NANO / profile.hz)
        for kind, unit in (("samples", "count"), ("cpu", "nanoseconds")):
            self._out.message(SAMPLE_TYPE, self._type(kind, unit))
        for place in _places(profile):
            self._mapping(*place)
        for stack, count in profile.stacks:
            sample = Message()
            sample.packed(1, self._stack([profile.frames[number] for number in stack]))
            sample.packed(2, (count, count * period))
            self._out.message(SAMPLE, sample.encoded())
        self._out.number(TIME, round(profile.started_at * NANO))
        self._out.number(DURATION, round(profile.seconds * NANO))
        self._out.message(PERIOD_TYPE, self._type("cpu", "nanoseconds"))
        self._out.number(PERIOD, period)
        self._out.packed(COMMENT, [self._string(comment) for comment in _comments(profile)])
        self._out.number(DEFAULT_TYPE, self._string("cpu"))
        for string in self._strings.keys:
            self._out.message(STRINGS, str(string).encode())
        return self._out.encoded()

    def _stack(self, frames: list[Frame]) -> Iterator[int]:
        call: list[Frame] = []
        for position, frame in enumerate(frames):
            call.append(frame)
            if not frame.inlined or position == len(frames) - 1:
                yield self._location(tuple(call))
                call.clear()

    def _location(self, call: tuple[Frame, ...]) -> int:
        def write(number: int) -> None:
            location = Message()
            location.number(1, number)
            location.number(2, self._mapping(call[-1].binary, call[-1].kind))
            location.number(3, call[-1].address)
            for frame in call:
                line = Message()
                line.number(1, self._function(frame))
                line.number(2, frame.line)
                location.message(4, line.encoded())
            self._out.message(LOCATION, location.encoded())

        return self._locations.number(call, write)

    def _function(self, frame: Frame) -> int:
        def write(number: int) -> None:
            function = Message()
            name = self._string(frame.function)
            function.number(1, number)
            function.number(2, name)
            function.number(3, name)
            function.number(4, self._string(frame.file))
            function.number(5, frame.start_line)
            self._out.message(FUNCTION, function.encoded())

        return self._functions.number((frame.function, frame.file, frame.start_line), write)

    def _mapping(self, binary: Binary | None, kind: FrameKind) -> int:
        def write(number: int) -> None:
            shown = binary or Binary(PLACEHOLDERS[kind])
            mapping = Message()
            mapping.number(1, number)
            mapping.number(2, shown.start)
            mapping.number(3, shown.limit)
            mapping.number(4, shown.offset)
            mapping.number(5, self._string(shown.file))
            mapping.number(6, self._string(shown.build_id))
            for known in _KNOWN[kind]:
                mapping.number(known, 1)
            self._out.message(MAPPING, mapping.encoded())

        return self._mappings.number((binary, kind), write)

    def _type(self, kind: str, unit: str) -> bytes:
        value_type = Message()
        value_type.number(1, self._string(kind))
        value_type.number(2, self._string(unit))
        return value_type.encoded()

    def _string(self, content: str) -> int:
        return self._strings.number(_UNPRINTABLE.sub("\ufffd", content))


def _places(profile: Profile) -> Iterable[_Place]:
    """Of all frames, those that most samples passed through first: tools take the first mapping
    for the program, so what is no binary comes last."""
    passed: dict[_Place, int] = {}
    places = [(frame.binary, frame.kind) for frame in profile.frames]
    for stack, count in profile.stacks:
        for place in dict.fromkeys(places[number] for number in reversed(stack)):
            passed[place] = passed.get(place, 0) + count
    return sorted(passed, key=lambda place: (place[0] is None, -passed[place]))


def _comments(profile: Profile) -> Iterator[str]:
    yield f"recorded {profile.recorded}"
    for reason, count in profile.lost.items():
        yield f"lost {reason}={count}"
    if profile.cpu_seconds is not None:
        yield f"cpu_seconds {profile.cpu_seconds!r}"
    for key, value in profile.labels.items():
        yield f"label {key}={value}"
    for note in profile.notes:
        yield f"note {note}"
