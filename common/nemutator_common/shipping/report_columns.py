"""Makes the bodies of `wire_columns.py` of reports, with the standard library's arrays.

Each report becomes a record once, when it is put into the buffer. Which names of series go with a batch
is decided when it is sent, by what the brain says that it has.
"""

import math
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from nemutator_common.shipping.batches import Numbered, encode_reports
from nemutator_common.wire import Ack, Report, Summary
from nemutator_common.wire_columns import (
    COLUMNS_FORM,
    MAGIC,
    MOST_SERIES,
    POINT_COLUMNS,
    PREFIX,
    RECORD_PREFIX,
    ColumnsHead,
    RecordHead,
    RecordPlace,
    SeriesName,
    SeriesNames,
    arrays_size,
)

_LEVEL = 1
"""Even the first level shrinks a snapshot to a tenth; higher ones cost more than they save."""

_KEPT_NAMINGS = 2
"""Records that wait may be of the naming before."""

_head = msgspec.json.Decoder(RecordHead)


@dataclass(slots=True)
class ReportColumns:
    """The form of one agent's reports, in one epoch."""

    only_containers: bool = field(default=False, init=False)
    """The brain learns from the containers of pods alone: points of nothing else are sent."""
    _takes_columns: bool = field(default=False, init=False)
    _as_json_up_to: int = field(default=0, init=False)
    """These were refused as columns: an older brain may have taken the place of the one that asked."""
    _naming: int = field(default=1, init=False)
    _names: dict[int, list[SeriesName]] = field(default_factory=lambda: {1: []}, init=False)
    """By naming."""
    _numbers: dict[SeriesName, int] = field(default_factory=dict, init=False)
    """Of the present naming."""
    _known: tuple[int, int] = field(default=(0, 0), init=False)
    """How many names the brain has, of which naming."""

    def record(self, report: Report) -> bytes:
        """*report* as it waits to be sent."""
        summaries = [
            one for one in report.summaries if not self.only_containers or _is_container(one)
        ]
        if len(self._numbers) + len(summaries) > MOST_SERIES:
            self._begin_naming()
        snapshot = zlib.compress(
            msgspec.json.encode(replace(report, summaries=(), flows=())), _LEVEL
        )
        columns = {name: [getattr(one, name) for one in summaries] for name in POINT_COLUMNS}
        columns = {
            name: values
            for name, values in columns.items()
            if any(value is not None for value in values)
        }
        head = RecordHead(
            taken_at=report.taken_at,
            machine=report.machine,
            workloads=len(report.workloads),
            processes=len(report.processes),
            missing=len(report.missing),
            flows=report.flows,
            naming=self._naming,
            points=len(summaries),
            columns=tuple(columns),
            snapshot=len(snapshot),
        )
        text = msgspec.json.encode(head)
        return b"".join(
            (
                RECORD_PREFIX.pack(len(text)),
                text,
                _bytes("i", [self._number(one) for one in summaries]),
                _bytes("d", [one.from_at for one in summaries]),
                _bytes("d", [one.to_at for one in summaries]),
                *(_bytes("d", [math.nan if v is None else v for v in c]) for c in columns.values()),
                snapshot,
            )
        )

    def encode(self, node: str, epoch: str, waiting: Numbered) -> bytes:
        """A batch of records in the form that the brain takes. An `Encode`."""
        namings = {_head_of(record).naming for _, record in waiting}
        # Without its names the brain would ask for them for ever, and take nothing that waits behind.
        are_named = namings <= self._names.keys()
        if not self._takes_columns or waiting[0][0] <= self._as_json_up_to or not are_named:
            return encode_reports(
                node, epoch, [(seq, msgspec.json.encode(self.report(one))) for seq, one in waiting]
            )
        head = ColumnsHead(
            node,
            epoch,
            tuple(self._unknown(naming) for naming in sorted(namings)),
            tuple(RecordPlace(seq, len(record)) for seq, record in waiting),
        )
        text = msgspec.json.encode(head)
        prefix = PREFIX.pack(MAGIC, COLUMNS_FORM, len(text))
        return b"".join((prefix, text, *(record for _, record in waiting)))

    def acknowledged(self, ack: Ack) -> None:
        self._takes_columns = ack.form >= COLUMNS_FORM
        self.only_containers = ack.only_containers
        self._known = ack.naming, ack.named

    def refused(self, up_to: int) -> bool:
        """Whether another form may be taken of what was refused."""
        if not self._takes_columns or up_to <= self._as_json_up_to:
            return False
        self._as_json_up_to = up_to
        return True

    def report(self, record: bytes) -> Report:
        """The report that *record* was made of."""
        head = _head_of(record)
        at = RECORD_PREFIX.size + RECORD_PREFIX.unpack_from(record)[0]
        snapshot = record[at + arrays_size(head) :]
        report = msgspec.json.decode(zlib.decompress(snapshot), type=Report)
        count, names = head.points, self._names.get(head.naming)
        if names is None:
            # They are two namings old: what waited for so long has its snapshot alone.
            return replace(report, flows=head.flows)
        of = [int(number) for number in _array("i", record[at : at + 4 * count])]
        at += 4 * count
        columns = []
        for _ in range(2 + len(head.columns)):
            columns.append(_array("d", record[at : at + 8 * count]))
            at += 8 * count
        summaries = (
            _summary(names[of[index]], head.columns, [column[index] for column in columns])
            for index in range(count)
        )
        return replace(report, flows=head.flows, summaries=tuple(summaries))

    def _begin_naming(self) -> None:
        self._naming += 1
        self._names[self._naming] = []
        self._numbers = {}
        self._names.pop(self._naming - _KEPT_NAMINGS, None)

    def _number(self, one: Summary) -> int:
        name = one.path, one.pod_uid, one.container_id, one.program
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._numbers)
            self._names[self._naming].append(name)
        return found

    def _unknown(self, naming: int) -> SeriesNames:
        """The names of *naming* that the brain does not have yet."""
        names = self._names[naming]
        known, named = self._known
        first = min(named, len(names)) if known == naming else 0
        return SeriesNames(naming, first, tuple(names[first:]))


def _is_container(one: Summary) -> bool:
    return one.pod_uid is not None and one.container_id is not None and one.program is None


def _head_of(record: bytes) -> RecordHead:
    size = RECORD_PREFIX.unpack_from(record)[0]
    return _head.decode(record[RECORD_PREFIX.size : RECORD_PREFIX.size + size])


def _summary(name: SeriesName, columns: Iterable[str], numbers: Sequence[float]) -> Summary:
    path, pod_uid, container_id, program = name
    said: dict[str, Any] = {
        column: int(value) if column in ("memory_bytes", "oom_kills") else value
        for column, value in zip(columns, numbers[2:], strict=True)
        if not math.isnan(value)
    }
    base = Summary(
        path=path,
        pod_uid=pod_uid,
        container_id=container_id,
        program=program,
        from_at=numbers[0],
        to_at=numbers[1],
        cpu_cores=0.0,
        memory_bytes=0,
    )
    return replace(base, **said)


def _bytes(code: str, values: Sequence[float]) -> bytes:
    made: array[float] = array(code, values)
    if sys.byteorder == "big":
        made.byteswap()
    return made.tobytes()


def _array(code: str, data: bytes) -> Sequence[float]:
    made: array[float] = array(code)
    made.frombytes(data)
    if sys.byteorder == "big":
        made.byteswap()
    return made
