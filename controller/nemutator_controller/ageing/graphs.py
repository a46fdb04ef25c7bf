"""What a workload's measure was over time, in as many points as a graph is wide."""

from collections.abc import Mapping, Sequence

from nemutator_controller.ageing.growth import binned
from nemutator_controller.ageing.model import KeptWindow, WindowSource
from nemutator_controller.ageing.trends import SeriesPoint

MOST_POINTS = 120


def graph_points(
    measure: str, windows: Mapping[WindowSource, Sequence[KeptWindow]]
) -> tuple[SeriesPoint, ...]:
    """The series of the process that was read for longest, which is what a list's graph shows."""
    if not windows:
        return ()
    longest = max(windows.values(), key=lambda of_one: of_one[-1].at - of_one[0].at)
    values = [(one.at, one.heap_bytes if measure == "heap" else one.rss_bytes) for one in longest]
    return thinned(values) or thinned([(one.at, one.heap_bytes) for one in longest])


def thinned(values: Sequence[tuple[float, int | None]]) -> tuple[SeriesPoint, ...]:
    """The points of *values* that are known, or means of them where they are too many."""
    points = [SeriesPoint(at, value) for at, value in values if value is not None]
    if len(points) > MOST_POINTS:
        points = binned(points, (points[-1].at - points[0].at) / (MOST_POINTS - 1))
    return tuple(points)
