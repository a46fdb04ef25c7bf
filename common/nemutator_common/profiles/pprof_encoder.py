"""Writing pprof: each string, function and location is written once, in order of first use."""

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nemutator_common.profiles.grade import pairs
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import (
    Binary,
    Frame,
    FrameKind,
    Profile,
    SampleLabels,
    Stack,
    Weighed,
    WeighedStacks,
)
from nemutator_common.profiles.pprof_messages import messages

NANO = 1_000_000_000

PLACEHOLDERS: dict[FrameKind, str] = {
    "go": "[go]",
    "native": "[native]",
    "kernel": "[kernel]",
    "unknown": "[unknown]",
}
"""The file names of mappings for frames that are in no binary."""

_NAMES_ALONE = {"has_functions": True}
_KNOWN: dict[FrameKind, dict[str, bool]] = {
    "go": dict.fromkeys(
        ("has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"), True
    ),
    "native": _NAMES_ALONE,
    "kernel": _NAMES_ALONE,
    "unknown": _NAMES_ALONE,
}
"""What a mapping declares as known of its frames. When one of the first three is set, `go tool
pprof` does not look up names itself, in whatever file has that path where it runs."""

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Tools print names as they are, so a name may not end its line or move a terminal's cursor."""

_LEVEL = 6
"""The level of gzip. Level 9 takes three times as long, as much as all the rest, and saves 1 %."""

HEAP_VALUES = (
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
)
"""The values of a heap profile as Go itself writes them, in the order of `Allocated`."""

OFF_CPU = "off_cpu"
"""The kind of value of time that threads were blocked for, as other profilers write it."""

NANOSECONDS = "nanoseconds"

_Place = tuple[Binary | None, FrameKind]
"""What a mapping stands for: a binary that contains both Go and C has two of them."""


def encode(profile: Profile) -> bytes:
    """The profile as compressed pprof; the same profile gives the same bytes."""
    return gzip.compress(_Encoder(profile).cpu(profile), _LEVEL, mtime=0)


def encode_heap(profile: HeapProfile) -> bytes:
    """The same for a heap profile."""
    return gzip.compress(_Encoder(profile).heap(profile), _LEVEL, mtime=0)


def encode_nanoseconds(profile: Weighed, *, seconds: float, kind: str = "cpu") -> bytes:
    """The same for stacks that are weighed in nanoseconds: by their CPU time, or time of another
    *kind*."""
    return gzip.compress(_Encoder(profile).nanoseconds(profile, seconds, kind), _LEVEL, mtime=0)


class _Encoder:
    """Each table is a dict whose values number its entries in the order of their first use."""

    def __init__(self, profile: WeighedStacks) -> None:
        self._profile = profile
        self._messages = messages()
        self._out = self._messages.Profile()
        self._strings = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[Stack, int] = {}
        self._mappings: dict[_Place, int] = {}

    def cpu(self, profile: Profile) -> bytes:
        out, period = self._out, round(NANO / profile.hz)
        for kind, unit in (("samples", "count"), ("cpu", NANOSECONDS)):
            self._add(out.sample_type, self._type(kind, unit))
        for place in _places(profile):
            self._mapping(place)
        apart = profile.samples or ((stack, count, ()) for stack, count in profile.stacks)
        for stack, count, labels in apart:
            self._sample(stack, (count, count * period), labels)
        out.time_nanos = round(profile.started_at * NANO)
        out.duration_nanos = round(profile.seconds * NANO)
        out.period_type.CopyFrom(self._type("cpu", NANOSECONDS))
        out.period = period
        return self._written(_comments(profile), shown="cpu")

    def nanoseconds(self, profile: Weighed, seconds: float, kind: str) -> bytes:
        out = self._out
        self._add(out.sample_type, self._type(kind, NANOSECONDS))
        for place in _places(profile):
            self._mapping(place)
        for stack, time in profile.stacks:
            self._sample(stack, (time,))
        out.time_nanos = round(profile.started_at * NANO)
        out.duration_nanos = round(seconds * NANO)
        out.period_type.CopyFrom(self._type(kind, NANOSECONDS))
        out.period = 1
        return self._written(_known_of(profile), shown=kind)

    def heap(self, profile: HeapProfile) -> bytes:
        out = self._out
        for kind, unit in HEAP_VALUES:
            self._add(out.sample_type, self._type(kind, unit))
        for place in _places(profile):
            self._mapping(place)
        for stack, allocated in profile.sites:
            self._sample(stack, allocated)
        out.time_nanos = round(profile.started_at * NANO)
        out.period_type.CopyFrom(self._type("space", "bytes"))
        out.period = profile.rate
        return self._written(_known_of(profile), shown="inuse_space")

    def _written(self, comments: Iterable[str], *, shown: str) -> bytes:
        """The whole, in which tools show the values *shown* first."""
        out = self._out
        out.comment.extend(self._string(comment) for comment in comments)
        out.default_sample_type = self._string(shown)
        out.string_table.extend(_UNPRINTABLE.sub("\ufffd", one).encode() for one in self._strings)
        written: bytes = out.SerializeToString()
        return written

    def _sample(self, stack: Stack, values: Sequence[int], labels: SampleLabels = ()) -> None:
        sample = self._messages.Sample(location_id=self._stack(stack), value=values)
        for key, value in labels:
            sample.label.add(key=self._string(key), str=self._string(value))
        self._add(self._out.sample, sample)

    def _add(self, table: Any, row: Any) -> None:
        table.append(row.SerializeToString())

    def _stack(self, stack: Stack) -> Iterator[int]:
        frames = self._profile.frames
        begun = 0
        for end, number in enumerate(stack, start=1):
            if not frames[number].inlined or end == len(stack):
                yield self._location(stack[begun:end])
                begun = end

    def _location(self, call: Stack) -> int:
        number = self._locations.get(call)
        if number is None:
            number = self._locations[call] = len(self._locations) + 1
            frames = [self._profile.frames[one] for one in call]
            location = self._messages.Location(
                id=number,
                mapping_id=self._mapping((frames[-1].binary, frames[-1].kind)),
                address=frames[-1].address,
            )
            for frame in frames:
                location.line.add(function_id=self._function(frame), line=frame.line)
            self._add(self._out.location, location)
        return number

    def _function(self, frame: Frame) -> int:
        key = (frame.function, frame.file, frame.start_line)
        number = self._functions.get(key)
        if number is None:
            number = self._functions[key] = len(self._functions) + 1
            name = self._string(frame.function)
            function = self._messages.Function(
                id=number,
                name=name,
                system_name=name,
                filename=self._string(frame.file),
                start_line=frame.start_line,
            )
            self._add(self._out.function, function)
        return number

    def _mapping(self, place: _Place) -> int:
        number = self._mappings.get(place)
        if number is None:
            number = self._mappings[place] = len(self._mappings) + 1
            binary, kind = place
            shown = binary or Binary(PLACEHOLDERS[kind])
            mapping = self._messages.Mapping(
                id=number,
                memory_start=shown.start,
                memory_limit=shown.limit,
                file_offset=shown.offset,
                filename=self._string(shown.file),
                build_id=self._string(shown.build_id),
                **_KNOWN[kind],
            )
            self._add(self._out.mapping, mapping)
        return number

    def _type(self, kind: str, unit: str) -> Any:
        return self._messages.ValueType(type=self._string(kind), unit=self._string(unit))

    def _string(self, content: str) -> int:
        return self._strings.setdefault(content, len(self._strings))


def _places(profile: WeighedStacks) -> Sequence[_Place]:
    """The mappings of all frames, those with the most samples first: tools take the first mapping
    for the program, so those that are not binaries come last."""
    numbers: dict[_Place, int] = {}
    of_frame = [numbers.setdefault((one.binary, one.kind), len(numbers)) for one in profile.frames]
    passed: dict[int, int] = {}
    for stack, count in profile.stacks:
        for number in dict.fromkeys(of_frame[frame] for frame in reversed(stack)):
            passed[number] = passed.get(number, 0) + count
    places = list(numbers)
    return sorted(
        (places[number] for number in passed),
        key=lambda place: (place[0] is None, -passed[numbers[place]]),
    )


def _comments(profile: Profile) -> Iterable[str]:
    yield f"recorded {profile.recorded}"
    for reason, count in profile.lost.items():
        yield f"lost {reason}={count}"
    if profile.cpu_seconds is not None:
        yield f"cpu_seconds {profile.cpu_seconds!r}"
    if profile.grade is not None:
        for word, count in pairs(profile.grade):
            yield f"grade {word}={count}"
    yield from _known_of(profile)


def _known_of(profile: Profile | HeapProfile | Weighed) -> Iterable[str]:
    for key, value in profile.labels.items():
        yield f"label {key}={value}"
    for note in profile.notes:
        yield f"note {note}"
