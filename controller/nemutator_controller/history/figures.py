"""The figures of which history is kept. A further one costs one entry here."""

from dataclasses import dataclass

from nemutator_controller.ingest.usage_codes import CoarseScale


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    """Its column in the points of reports, and its name in answers."""
    adds: bool = True
    """Whether a workload has the sum of its pods; if not, it has their mean."""
    decimals: int = 0
    """Of its unit, in answers."""
    weekly: CoarseScale | None = None
    """How a usual week of it is written; None: only hours and a day are kept."""


CPU = Figure("cpu_cores", decimals=4, weekly=CoarseScale(1e-4))
MEMORY = Figure("memory_bytes", weekly=CoarseScale(float(512 << 10)))

FIGURES = (
    CPU,
    MEMORY,
    Figure("throttled", adds=False, decimals=4),
    Figure("network_received"),
    Figure("network_sent"),
    Figure("disk_read"),
    Figure("disk_written"),
)
