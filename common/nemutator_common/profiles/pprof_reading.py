"""Reading pprof. It was written by an agent, or by anybody who can speak for one: sizes and counts
have caps, indexes are checked, and nothing but MalformedProfileError is raised.
"""

import itertools
import zlib
from collections.abc import Iterator

from nemutator_common.profiles.model import Binary, Frame, FrameKind, FrameTable, Profile, Stack
from nemutator_common.profiles.pprof_writing import (
    COMMENT,
    DURATION,
    FILENAMES,
    FUNCTION,
    LOCATION,
    MAPPING,
    NANO,
    PERIOD,
    PLACEHOLDERS,
    SAMPLE,
    SAMPLE_TYPE,
    STRINGS,
    TIME,
)
from nemutator_common.protobuf import (
    BYTES,
    Field,
    MalformedMessageError,
    fields,
    numbers,
    signed,
    text,
)

LARGEST = 32 << 20
"""Uncompressed. Ten thousand stacks with five thousand functions are some 2 MB."""

MOST_ENTRIES = 1 << 18
"""In each table: samples, locations, functions, strings."""

MOST_STACKED = 1 << 21
"""Frames of all stacks together."""

MOST_INLINED = 1024
"""Lines of one location."""

_MOST_VALUES = 16
"""Of one sample. Nobody writes more than four."""

MOST_COMMENTS = 256

LONGEST_STRING = 4096
"""Of a name or a comment; what is longer is cut. Go's longest names are some 500."""

_LARGEST_FIELD = 15
"""Numbers above are not of any message here."""

_KINDS: dict[str, FrameKind] = {file: kind for kind, file in PLACEHOLDERS.items()}

_Place = tuple[Binary | None, FrameKind]


class MalformedProfileError(ValueError):
    """These bytes are no profile that we can read; the message says what is wrong."""


def decode(content: bytes) -> Profile:
    """A profile that `encode` wrote, or anybody's of CPU time. Raises MalformedProfileError."""
    try:
        return _Reader(_decompressed(content)).profile()
    except MalformedMessageError as error:
        raise MalformedProfileError(str(error)) from None


def _decompressed(content: bytes) -> bytes:
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


class _Table:
    """Messages of one kind, with a cap; as bytes, because a field of two bytes would take 100."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.rows: list[bytes] = []

    def add(self, field: Field) -> None:
        if field.kind != BYTES:
            raise MalformedProfileError(f"{self.what}: expected a message")
        if len(self.rows) >= MOST_ENTRIES:
            raise MalformedProfileError(f"{self.what}: more than {MOST_ENTRIES}")
        self.rows.append(field.content)


class _Reader:
    def __init__(self, raw: bytes) -> None:
        tables = {
            SAMPLE_TYPE: _Table("sample types"),
            SAMPLE: _Table("samples"),
            MAPPING: _Table("mappings"),
            LOCATION: _Table("locations"),
            FUNCTION: _Table("functions"),
        }
        self._strings: list[str] = []
        self._numbers: dict[int, int] = {}
        self._comments: list[int] = []
        for field in fields(raw):
            if field.number in tables:
                tables[field.number].add(field)
            elif field.number == STRINGS:
                if len(self._strings) >= MOST_ENTRIES:
                    raise MalformedProfileError(f"strings: more than {MOST_ENTRIES}")
                self._strings.append(text(field)[:LONGEST_STRING])
            elif field.number == COMMENT:
                left = MOST_COMMENTS - len(self._comments)
                self._comments.extend(itertools.islice(numbers(field), left))
            elif field.kind != BYTES and field.number <= _LARGEST_FIELD:
                self._numbers[field.number] = signed(field.value)
        self._value = self._value_of_samples(tables[SAMPLE_TYPE])
        self._samples = tables[SAMPLE]
        places = {row[1]: self._place(row) for row in map(_numbers_of, tables[MAPPING].rows)}
        functions = {
            row[1]: (self._string(row[2]), self._string(row[4]), _line(row[5]))
            for row in map(_numbers_of, tables[FUNCTION].rows)
        }
        self._table = FrameTable()
        self._stacked = 0
        self._calls = dict(self._call(row, places, functions) for row in tables[LOCATION].rows)

    def profile(self) -> Profile:
        stacks = tuple(self._stack(row) for row in self._samples.rows)
        period = self._numbers.get(PERIOD, 0)
        if not 0 < period <= NANO:
            raise MalformedProfileError("its period is not that of a sampled CPU")
        said = self._said()
        recorded = said.get("recorded")
        return Profile(
            hz=round(NANO / period),
            started_at=self._numbers.get(TIME, 0) / NANO,
            seconds=self._numbers.get(DURATION, 0) / NANO,
            frames=self._table.frames,
            stacks=stacks,
            recorded=_count(recorded[-1]) if recorded else sum(count for _, count in stacks),
            lost={reason: _count(count) for reason, count in _pairs(said.get("lost", []))},
            cpu_seconds=_seconds(said["cpu_seconds"][-1]) if "cpu_seconds" in said else None,
            notes=tuple(said.get("note", ())),
            labels=dict(_pairs(said.get("label", []))),
        )

    def _stack(self, row: bytes) -> tuple[Stack, int]:
        stack: list[int] = []
        values: list[int] = []
        for field in fields(row):
            if field.number == 1:
                for location in numbers(field):
                    stack.extend(self._called(location))
            elif field.number == 2:
                values.extend(
                    signed(value) for value in itertools.islice(numbers(field), _MOST_VALUES)
                )
                del values[_MOST_VALUES:]
        if self._value >= len(values) or values[self._value] < 0:
            raise MalformedProfileError("a sample without its count")
        return tuple(stack), values[self._value]

    def _called(self, location: int) -> Stack:
        call = self._calls.get(location)
        if call is None:
            raise MalformedProfileError(f"there is no location {location}")
        self._stacked += len(call)
        if self._stacked > MOST_STACKED:
            raise MalformedProfileError(f"more than {MOST_STACKED} frames")
        return call

    def _call(
        self,
        row: bytes,
        places: dict[int, _Place],
        functions: dict[int, tuple[str, str, int]],
    ) -> tuple[int, Stack]:
        head = _numbers_of(row)
        binary, kind = places.get(head[2], (None, "native"))
        lines = [_numbers_of(one.content) for one in fields(row) if one.number == 4]
        if len(lines) > MOST_INLINED:
            raise MalformedProfileError(f"more than {MOST_INLINED} lines in one place")
        call = []
        for position, line in enumerate(lines, start=1):
            if line[1] not in functions:
                raise MalformedProfileError(f"there is no function {line[1]}")
            name, file, start_line = functions[line[1]]
            inlined = position < len(lines)
            frame = Frame(name, file, _line(line[2]), start_line, kind, inlined, head[3], binary)
            call.append(self._table.number(frame))
        if not lines:
            address = f"{head[3]:#x}" if head[3] else "[unknown]"
            call.append(self._table.number(Frame(address, kind="unknown")))
        return head[1], tuple(call)

    def _place(self, row: "_Zeros") -> _Place:
        """What a mapping stands for. One of Go tells its files, as Go's own profiles do."""
        file = self._string(row[5])
        if file in _KINDS:
            return None, _KINDS[file]
        binary = Binary(file, self._string(row[6]), row[2], row[3], row[4])
        return binary, "go" if row[FILENAMES] else "native"

    def _value_of_samples(self, types: _Table) -> int:
        """Which of a sample's values counts them: that in the unit `count`, else the first."""
        for position, row in enumerate(types.rows):
            if self._string(_numbers_of(row)[2]) == "count":
                return position
        return 0

    def _said(self) -> dict[str, list[str]]:
        said: dict[str, list[str]] = {}
        for index in self._comments:
            word, _, value = self._string(index).partition(" ")
            said.setdefault(word, []).append(value)
        return said

    def _string(self, index: int) -> str:
        if index >= len(self._strings):
            raise MalformedProfileError(f"there is no string {index}")
        return self._strings[index]


class _Zeros(dict[int, int]):
    def __missing__(self, key: int) -> int:
        return 0


def _numbers_of(row: bytes) -> _Zeros:
    """The last number of each field; 0 for those that are not there, as protobuf has it."""
    known = (field for field in fields(row) if field.number <= _LARGEST_FIELD)
    return _Zeros({field.number: field.value for field in known})


def _line(value: int) -> int:
    return value if value < 1 << 31 else 0


def _pairs(said: list[str]) -> Iterator[tuple[str, str]]:
    for pair in said:
        key, _, value = pair.partition("=")
        yield key, value


def _count(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise MalformedProfileError("a comment holds no count where there should be one")
    return int(digits)


def _seconds(said: str) -> float:
    try:
        value = float(said)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise MalformedProfileError("a comment holds no time where there should be one")
    return value
