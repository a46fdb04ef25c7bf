"""Reading pprof. The bytes come from an agent, or from anybody who can pass for one, so sizes and
counts have caps, indexes are checked, and only MalformedProfileError is raised.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from nemutator_common.profiles import grade
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import (
    Binary,
    Frame,
    FrameKind,
    FrameTable,
    Profile,
    SampleLabels,
    Stack,
    Weighed,
    merged,
)
from nemutator_common.profiles.pprof_encoder import (
    HEAP_VALUES,
    NANO,
    NANOSECONDS,
    OFF_CPU,
    PLACEHOLDERS,
)
from nemutator_common.profiles.pprof_messages import messages

LARGEST = 16 << 20
"""The limit of a profile, uncompressed. Ten thousand stacks with five thousand functions are about
3 MB. The table of rows briefly takes up to sixteen times as much, when all rows are empty."""

LARGEST_ROW = 1 << 20
"""A message can be thirty times as large as its bytes, but only one row is a message at a time."""

MOST_ENTRIES = 1 << 18
"""The most entries in each table: samples, locations, functions and strings."""

MOST_STACKED = 1 << 21
"""The most frames of all stacks together."""

MOST_INLINED = 1024
"""The most lines of one location."""

MOST_LABELS = 16
"""The most labels of one sample that are read."""

MOST_COMMENTS = 256

LONGEST_STRING = 4096
"""The most characters of a name or a comment; longer ones are cut. Go's longest have about 500."""

_TABLES = ("sample_type", "sample", "mapping", "location", "function", "string_table")

_KINDS: dict[str, FrameKind] = {file: kind for kind, file in PLACEHOLDERS.items()}

_SPACE = "space"
"""What Go's heap profiles count before each that is recorded."""

_Place = tuple[Binary | None, FrameKind]

Decoded = TypeVar("Decoded")


class MalformedProfileError(ValueError):
    """These bytes are not a profile that we can read; the message says what is wrong."""


def decode(content: bytes) -> Profile:
    """Read a CPU profile that `encode` or any other tool wrote. Raises MalformedProfileError."""
    return _checked(decompressed(content), lambda decoder: decoder.cpu())


def decode_heap(content: bytes) -> HeapProfile:
    """The same for a heap profile, that of `encode_heap` or of Go itself."""
    return _checked(decompressed(content), lambda decoder: decoder.heap())


def decode_off_cpu(content: bytes) -> Weighed:
    """The same for time off the CPU, that of `encode_nanoseconds` or of another tool."""
    return _checked(decompressed(content), lambda decoder: decoder.off_cpu())


def decode_any(raw: bytes) -> Profile | HeapProfile | Weighed:
    """The same for a profile of any kind, decompressed."""
    return _checked(raw, lambda decoder: decoder.of_its_kind())


def _checked(raw: bytes, read: "Callable[[_Decoder], Decoded]") -> Decoded:
    try:
        return read(_Decoder(raw))
    except messages().DecodeError:
        raise MalformedProfileError("a message in it is malformed") from None


def decompressed(content: bytes) -> bytes:
    """What gzip has compressed, within our limit. Raises MalformedProfileError."""
    inflate = zlib.decompressobj(wbits=31)
    try:
        raw = inflate.decompress(content, LARGEST)
    except zlib.error:
        raise MalformedProfileError("not compressed by gzip") from None
    if inflate.unconsumed_tail:
        raise MalformedProfileError(f"more than {LARGEST} bytes")
    if not inflate.eof:
        raise MalformedProfileError("ends too early")
    return raw


class _Decoder:
    def __init__(self, raw: bytes) -> None:
        self._raw = messages().Profile.FromString(raw)
        for table in _TABLES:
            if len(getattr(self._raw, table)) > MOST_ENTRIES:
                raise MalformedProfileError(f"{table}: more than {MOST_ENTRIES}")
        self._strings: list[str] = [
            one.decode("utf-8", "replace")[:LONGEST_STRING] for one in self._raw.string_table
        ]
        self._places = {row.id: self._place(row) for row in self._rows("mapping", "Mapping")}
        self._functions = {
            row.id: (self._string(row.name), self._string(row.filename), _line(row.start_line))
            for row in self._rows("function", "Function")
        }
        self._table = FrameTable()
        # Many samples have the same ones.
        self._known_labels: dict[SampleLabels, SampleLabels] = {}
        self._calls = {row.id: self._call(row) for row in self._rows("location", "Location")}

    def cpu(self) -> Profile:
        if self._string(self._raw.period_type.type) == _SPACE:
            raise MalformedProfileError("it is of memory, and not of a CPU")
        if self._string(self._raw.period_type.type) == OFF_CPU:
            raise MalformedProfileError("it is of time off the CPU")
        value = self._value_of_samples()
        samples = tuple(
            (stack, values[0], labels) for stack, values, labels in self._samples((value,))
        )
        has_labels = any(labels for _, _, labels in samples)
        stacks = tuple((stack, count) for stack, count, _ in samples)
        period = self._raw.period
        if not 0 < period <= NANO:
            raise MalformedProfileError("its period is not that of a sampled CPU")
        comments = self._comments()
        recorded = comments.get("recorded")
        return Profile(
            hz=round(NANO / period),
            started_at=self._raw.time_nanos / NANO,
            seconds=self._raw.duration_nanos / NANO,
            frames=self._table.frames,
            stacks=merged(stacks) if has_labels else stacks,
            samples=samples if has_labels else (),
            recorded=_count(recorded[-1]) if recorded else sum(count for _, count in stacks),
            lost={reason: _count(count) for reason, count in _pairs(comments.get("lost", []))},
            cpu_seconds=_seconds(comments["cpu_seconds"][-1])
            if "cpu_seconds" in comments
            else None,
            notes=tuple(comments.get("note", ())),
            labels=dict(_pairs(comments.get("label", []))),
            grade=grade.of_pairs(
                (word, _count(digits)) for word, digits in _pairs(comments.get("grade", []))
            ),
        )

    def heap(self) -> HeapProfile:
        kinds = self._value_types()
        if any(kind not in kinds for kind in HEAP_VALUES):
            raise MalformedProfileError("not all values of a heap are in it")
        values = tuple(kinds.index(kind) for kind in HEAP_VALUES)
        sites = tuple((stack, Allocated(*found)) for stack, found, _ in self._samples(values))
        comments = self._comments()
        return HeapProfile(
            started_at=self._raw.time_nanos / NANO,
            rate=max(self._raw.period, 0),
            frames=self._table.frames,
            sites=sites,
            notes=tuple(comments.get("note", ())),
            labels=dict(_pairs(comments.get("label", []))),
        )

    def off_cpu(self) -> Weighed:
        if self._value_types() != [(OFF_CPU, NANOSECONDS)]:
            raise MalformedProfileError("it is not of time off the CPU")
        return self.weighed()

    def of_its_kind(self) -> Profile | HeapProfile | Weighed:
        kinds = self._value_types()
        if all(kind in kinds for kind in HEAP_VALUES):
            return self.heap()
        if ("cpu", NANOSECONDS) in kinds and 0 < self._raw.period <= NANO:
            return self.cpu()
        return self.weighed()

    def weighed(self) -> Weighed:
        """By the value that its tool shows first."""
        kinds = self._value_types()
        if not kinds:
            raise MalformedProfileError("it does not say what it counts")
        words = [kind for kind, _ in kinds]
        preferred = self._string(self._raw.default_sample_type)
        value = words.index(preferred) if preferred in words else len(kinds) - 1
        kind, unit = kinds[value]
        comments = self._comments()
        return Weighed(
            frames=self._table.frames,
            stacks=tuple((stack, weight) for stack, (weight,), _ in self._samples((value,))),
            unit=kind if unit in ("", "count") else unit,
            started_at=self._raw.time_nanos / NANO,
            notes=tuple(comments.get("note", ())),
            labels=dict(_pairs(comments.get("label", []))),
        )

    def _value_types(self) -> list[tuple[str, str]]:
        rows = self._rows("sample_type", "ValueType")
        return [(self._string(row.type), self._string(row.unit)) for row in rows]

    def _rows(self, table: str, kind: str) -> Iterator[Any]:
        parse = getattr(messages(), kind).FromString
        rows: Iterable[bytes] = getattr(self._raw, table)
        for row in rows:
            if len(row) > LARGEST_ROW:
                raise MalformedProfileError(f"{table}: a row of more than {LARGEST_ROW} bytes")
            yield parse(row)

    def _samples(
        self, wanted: tuple[int, ...]
    ) -> Iterator[tuple[Stack, tuple[int, ...], SampleLabels]]:
        """Each stack, with those of its values whose indexes are *wanted*, and its labels."""
        calls, left = self._calls, MOST_STACKED
        for sample in self._rows("sample", "Sample"):
            stack: list[int] = []
            for location in sample.location_id:
                call = calls.get(location)
                if call is None:
                    raise MalformedProfileError(f"there is no location {location}")
                left -= len(call)
                if left < 0:
                    raise MalformedProfileError(f"more than {MOST_STACKED} frames")
                stack += call
            values = sample.value
            if any(one >= len(values) or values[one] < 0 for one in wanted):
                raise MalformedProfileError("a sample without its count")
            yield tuple(stack), tuple(values[one] for one in wanted), self._labels(sample)

    def _labels(self, sample: Any) -> SampleLabels:
        """Those that are texts: numbers are of other tools, such as the size of what was allocated."""
        found = tuple(
            (self._string(one.key), self._string(one.str))
            for one in sample.label[:MOST_LABELS]
            if one.str
        )
        return self._known_labels.setdefault(found, found)

    def _call(self, location: Any) -> Stack:
        binary, kind = self._places.get(location.mapping_id, (None, "native"))
        lines: Sequence[Any] = location.line
        address: int = location.address
        if len(lines) > MOST_INLINED:
            raise MalformedProfileError(f"more than {MOST_INLINED} lines in one place")
        call = []
        for position, line in enumerate(lines, start=1):
            function = self._functions.get(line.function_id)
            if function is None:
                raise MalformedProfileError(f"there is no function {line.function_id}")
            name, file, start_line = function
            inlined = position < len(lines)
            frame = Frame(name, file, _line(line.line), start_line, kind, inlined, address, binary)
            call.append(self._table.number(frame))
        if not lines:
            shown = f"{address:#x}" if address else "[unknown]"
            call.append(self._table.number(Frame(shown, kind="unknown")))
        return tuple(call)

    def _place(self, mapping: Any) -> _Place:
        """What a mapping stands for. A mapping of Go sets `has_filenames`, as Go's profiles do."""
        file = self._string(mapping.filename)
        if file in _KINDS:
            return None, _KINDS[file]
        binary = Binary(
            file,
            self._string(mapping.build_id),
            mapping.memory_start,
            mapping.memory_limit,
            mapping.file_offset,
        )
        return binary, "go" if mapping.has_filenames else "native"

    def _value_of_samples(self) -> int:
        """The index of the value that counts samples: that with the unit `count`, or the first."""
        for position, (_, unit) in enumerate(self._value_types()):
            if unit == "count":
                return position
        return 0

    def _comments(self) -> dict[str, list[str]]:
        comments: dict[str, list[str]] = {}
        for index in self._raw.comment[:MOST_COMMENTS]:
            word, _, value = self._string(index).partition(" ")
            comments.setdefault(word, []).append(value)
        return comments

    def _string(self, index: int) -> str:
        if not 0 <= index < len(self._strings):
            raise MalformedProfileError(f"there is no string {index}")
        return self._strings[index]


def _line(value: int) -> int:
    return value if 0 <= value < 1 << 31 else 0


def _pairs(pairs: list[str]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        key, _, value = pair.partition("=")
        yield key, value


def _count(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise MalformedProfileError("a comment holds no count where there should be one")
    return int(digits)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise MalformedProfileError("a comment holds no time where there should be one")
    return value
