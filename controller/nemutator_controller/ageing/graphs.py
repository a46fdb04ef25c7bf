"""What a workload's measure was over time, in as many points as a graph is wide."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from nemutator_controller.ageing.growth import binned
from nemutator_controller.ageing.model import KeptWindow, WindowSource
from nemutator_controller.ageing.trends import SeriesPoint

MOST_POINTS = 120

_VALUES: Mapping[str, Callable[[KeptWindow], int | None]] = {
    "heap": lambda one: one.heap_bytes,
    "memory": lambda one: one.rss_bytes,
    "goroutines": lambda one: one.goroutines,
    "threads": lambda one: one.threads,
    "open files": lambda one: one.open_files,
}


def graph_points(
    measure: str, windows: Mapping[WindowSource, Sequence[KeptWindow]], function: str | None = None
) -> tuple[SeriesPoint, ...]:
    """The series of the process that was read for longest, which is what a list's graph shows; of CPU time,
    the share of *function* in percent."""
    if not windows:
        return ()
    longest = max(windows.values(), key=lambda of_one: of_one[-1].at - of_one[0].at)
    if measure == "cpu":
        return thinned((one.at, _share(one, function)) for one in longest)
    value = _VALUES[measure]
    return thinned((one.at, value(one)) for one in longest) or thinned(
        (one.at, one.heap_bytes) for one in longest
    )


def _share(window: KeptWindow, function: str | None) -> float | None:
    if not window.functions or not window.samples or function is None:
        return None
    return 100 * window.functions.get(function, 0) / window.samples


def thinned(values: Iterable[tuple[float, float | None]]) -> tuple[SeriesPoint, ...]:
    """The points of *values* that are known, or means of them where they are too many."""
    points = [SeriesPoint(at, value) for at, value in values if value is not None]
    if len(points) > MOST_POINTS:
        points = binned(points, (points[-1].at - points[0].at) / (MOST_POINTS - 1))
    return tuple(points)
