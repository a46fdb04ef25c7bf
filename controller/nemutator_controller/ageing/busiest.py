"""Where a workload has spent its CPU time, by the windows of all its processes together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.ageing.model import KeptWindow, WindowSource

MOST_FUNCTIONS = 20


@dataclass(frozen=True, slots=True)
class Busiest:
    samples: int
    windows: int
    functions: tuple[tuple[str, int], ...]
    """Ids, each with the samples in it and in what it has called; those with most first."""


def busiest(history: Mapping[WindowSource, Sequence[KeptWindow]], *, since: float) -> Busiest:
    """Of the windows that are not older than *since*."""
    chosen = [
        one
        for windows in history.values()
        for one in windows
        if one.functions is not None and one.at >= since
    ]
    sums = Counter[str]()
    for window in chosen:
        sums.update(window.functions or {})
    first = sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:MOST_FUNCTIONS]
    return Busiest(sum(one.samples for one in chosen), len(chosen), tuple(first))
