"""Reports as they are kept, compressed, and parts of them.

Of a namespace that has a pod on each of 500 nodes, four of 134 workloads are shown of each: so what tells where a workload belongs is
read of all, and the rest of those alone that are wanted.
"""

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress

import msgspec
from nemutator_common.wire import (
    LARGEST_BATCH_BYTES,
    Machine,
    Missing,
    ProcessUsage,
    Report,
    Workload,
)

from nemutator_controller.ingest.batches import (
    MOST_PROCESSES,
    MOST_WORKLOADS,
    RefusedBatchError,
    check_report,
)

_LONGEST_REASON = 200


class UnreadableReportError(ValueError):
    """The bytes are not a report as this version knows it."""


class WorkloadPlace(msgspec.Struct, frozen=True, gc=False):
    """What says of a `Workload` where it belongs."""

    path: str
    pod_uid: str | None


ChosenPart = Callable[[Sequence[WorkloadPlace]], Sequence[bool]]
"""Which workloads are wanted."""


class _ProcessPlace(msgspec.Struct, frozen=True, gc=False):
    workload: str


class _Places(msgspec.Struct, frozen=True):
    """A `Report`, as far as it says what belongs where."""

    workloads: tuple[WorkloadPlace, ...]
    processes: tuple[_ProcessPlace, ...]


class _Closed(msgspec.Struct, frozen=True):
    """A `Report` whose workloads and processes are not read."""

    taken_at: float
    machine: Machine
    workloads: tuple[msgspec.Raw, ...]
    processes: tuple[msgspec.Raw, ...]
    missing: tuple[Missing, ...]


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Report)
_places = msgspec.json.Decoder(_Places)
_closed = msgspec.json.Decoder(_Closed)
_workload = msgspec.json.Decoder(Workload)
_process = msgspec.json.Decoder(ProcessUsage)


def pack(report: Report) -> bytes:
    """*report* without its summaries and flows, which are taken in once and not shown."""
    report = replace(report, summaries=(), flows=())
    return zlib.compress(_encoder.encode(report), level=1)


def unpack(packed: bytes) -> Report:
    """The report in *packed*, which an agent may have written; raises `UnreadableReportError`."""
    with _read():
        report = _decoder.decode(_inflated(packed))
        # Its clock was compared with ours when it came.
        check_report(report, now=math.inf)
        return report


def unpack_part(packed: bytes, choose: ChosenPart) -> Report:
    """The same with the workloads that *choose* wants, and with their processes. Whether the others are as they should be nobody
    looks at."""
    with _read():
        text = _inflated(packed)
        places = _places.decode(text)
        # Before there is an object for each of them.
        if len(places.workloads) > MOST_WORKLOADS or len(places.processes) > MOST_PROCESSES:
            raise UnreadableReportError("it has more workloads or processes than are taken")
        wanted = choose(places.workloads)
        paths = {one.path for one in compress(places.workloads, wanted)}
        closed = _closed.decode(text)
        processes = [one.workload in paths for one in places.processes]
        report = Report(
            taken_at=closed.taken_at,
            machine=closed.machine,
            workloads=tuple(map(_workload.decode, compress(closed.workloads, wanted))),
            processes=tuple(map(_process.decode, compress(closed.processes, processes))),
            missing=closed.missing,
        )
        check_report(report, now=math.inf)
        return report


def _inflated(packed: bytes) -> bytes:
    inflating = zlib.decompressobj()
    text = inflating.decompress(packed, LARGEST_BATCH_BYTES)
    if inflating.unconsumed_tail:
        raise UnreadableReportError(f"longer than {LARGEST_BATCH_BYTES} bytes")
    return text


@contextmanager
def _read() -> Iterator[None]:
    try:
        yield
    except (
        zlib.error,
        msgspec.MsgspecError,
        RefusedBatchError,
        RecursionError,
        UnicodeError,
    ) as error:
        raise UnreadableReportError(str(error)[:_LONGEST_REASON]) from error
