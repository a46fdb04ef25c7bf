"""What was used and what strategies would have requested, hour by hour, for a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nemutator_controller.sizing.strategies.known import STRATEGIES, Resource
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

MOST_HOURS = 600
"""Points of a line: more are put together, the most of each counts."""


@dataclass(frozen=True, slots=True)
class ReplayedSeries:
    """Of one container; None where nothing was seen or said."""

    name: str
    hours: int
    used: tuple[float | None, ...]
    """By the busiest pod, at most, in each part of the time."""
    requested: dict[str, tuple[float | None, ...]]
    """By strategy."""


def replayed_series(
    names: Sequence[str], resource: Resource, uses: Sequence[RecordedUse], *, most: int
) -> list[ReplayedSeries]:
    """Those of the *most* containers that use most; the others would not be seen beside them."""
    some = sorted((use for use in uses if use.hours > 1), key=_whole, reverse=True)[:most]
    return [
        ReplayedSeries(
            use.name,
            use.hours,
            _line(np.fmax.reduce(use.busiest(), axis=1)),
            {
                name: _line(
                    STRATEGIES[name][resource].request(use, STRATEGIES[name][resource].number)
                )
                for name in names
            },
        )
        for use in some
    ]


def _whole(use: RecordedUse) -> float:
    return float(np.nansum(use.busiest()))


def _line(hourly: Numbers) -> tuple[float | None, ...]:
    together = -(-len(hourly) // MOST_HOURS)
    padded = np.pad(hourly, (0, -len(hourly) % together), constant_values=np.nan)
    parts = np.fmax.reduce(padded.reshape(-1, together), axis=1)
    return tuple(None if np.isnan(one) else round(float(one), 9) for one in parts)
