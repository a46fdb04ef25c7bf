"""Points of containers, and windows of them."""

from collections.abc import Mapping, Sequence

import numpy as np
from nemutator_controller.ingest.points_together import parts_of
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints
from nemutator_controller.neighbours.node_window import NodeWindow, add_together

NOW = 1_700_000_040.0
"""A minute begins here."""

MINUTE = 60.0


def container(uid: str, container_id: str = "c") -> Series:
    return Series(f"/kubepods/pod{uid}/{container_id}", uid, container_id, None)


def points(
    series: Sequence[Series],
    of: Sequence[int],
    ends: Sequence[float],
    columns: Mapping[str, Sequence[float]],
) -> UsagePoints:
    """Each of the quarter of a minute that *ends* says the end of."""
    to_at = np.array(ends, dtype=np.float64)
    return UsagePoints(
        series=series,
        of=np.array(of, dtype=np.int32),
        from_at=to_at - 15,
        to_at=to_at,
        columns={name: np.array(values, dtype=np.float64) for name, values in columns.items()},
    )


def add(window: NodeWindow, told: UsagePoints, *, now: float) -> Mapping[str, int]:
    """What was left out of what one node has *told*, by reason."""
    [part] = parts_of([NodePoints("n", told)])
    return add_together([window], part, now=now)
