"""The form in which reports travel: what a brain reads of each as typed heads and arrays, and the rest
as a snapshot that it keeps unopened until somebody looks.

A body is the prefix, the JSON of a `ColumnsHead`, and the records of its reports one after another. A
record is the length of its head in four bytes, the JSON of a `RecordHead`, the arrays, and the snapshot. All
numbers are little-endian: of each point the number of its series (int32), then the beginnings and ends
of all points, then each column (float64; NaN is what is not known). The snapshot is the zlib-compressed
JSON of the `Report` without its summaries and flows.

JSON (`wire.Batch`) is the form of the same shapes for people and for brains that know no other.
"""

from dataclasses import dataclass
from struct import Struct

from nemutator_common.wire import Machine
from nemutator_common.wire_activity import Flow

COLUMNS_TYPE = "application/vnd.nemutator.columns"
"""The media type of a body."""

COLUMNS_FORM = 1
"""The form's version, in the prefix and in an `Ack`."""

PREFIX = Struct("<4sII")
"""Magic bytes, the version, and the length of the head."""
MAGIC = b"NMCO"

RECORD_PREFIX = Struct("<I")

POINT_COLUMNS = (
    "cpu_cores",
    "memory_bytes",
    "throttled",
    "oom_kills",
    "network_received",
    "network_sent",
    "disk_read",
    "disk_written",
    "run_delay",
    "cpu_waiting",
    "memory_waiting",
    "disk_waiting",
    "run_delay_p99",
)
"""The fields of a `Summary` that are columns, under the same names."""

MOST_SERIES = 8_192
"""Series that an agent names before it begins anew."""

SeriesName = tuple[str, str | None, str | None, str | None]
"""Path, pod uid, container id and program, as in `Summary`."""


@dataclass(frozen=True, slots=True)
class SeriesNames:
    """The names of series, in the order of their numbers."""

    naming: int
    """Which beginning of the names this is in the agent's epoch: numbers mean nothing in another one."""
    first: int
    """The number of the first of *names*. The brain has those below."""
    names: tuple[SeriesName, ...]


@dataclass(frozen=True, slots=True)
class RecordPlace:
    seq: int
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class ColumnsHead:
    node: str
    epoch: str
    names: tuple[SeriesNames, ...]
    records: tuple[RecordPlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHead:
    """What the brain reads of every report."""

    taken_at: float
    machine: Machine
    workloads: int
    """How many of them the snapshot shows."""
    processes: int
    missing: int
    flows: tuple[Flow, ...] = ()
    naming: int = 0
    points: int = 0
    columns: tuple[str, ...] = ()
    snapshot: int = 0
    """Its size in bytes."""


@dataclass(frozen=True, slots=True)
class PackedReport:
    head: RecordHead
    snapshot: bytes


def arrays_size(head: RecordHead) -> int:
    """The bytes of its arrays."""
    return head.points * (4 + 8 * (2 + len(head.columns)))
