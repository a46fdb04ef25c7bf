"""What is kept of one row in some time, whatever the resolution, and what it comes to in steps and windows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_codes import Numbers

MEASURES = ("mean", "low", "high", "most")


@dataclass(frozen=True, slots=True)
class RowCells:
    """Parallel arrays, the earliest cell first. Cells of which nothing is known are there, as NaN."""

    at: npt.NDArray[np.int64]
    """When each begins, in seconds since the epoch."""
    seconds: Numbers
    """What each counts in a mean: how much of it was reported."""
    pods: Numbers
    figures: Mapping[str, Mapping[str, Numbers]]
    """By name and measure."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """The same in steps of equal length; NaN: nothing is known of this step."""

    pods: Numbers
    figures: Mapping[str, Mapping[str, Numbers]]


def stepped(cells: RowCells, *, begin: int, step_s: int, steps: int) -> Stepped:
    """*cells* in *steps* steps from *begin*; a cell belongs to the step in which it begins."""
    place = (cells.at - begin) // step_s
    inside = (place >= 0) & (place < steps)
    at = place[inside]

    def mean(values: Numbers) -> Numbers:
        used = values[inside]
        known = ~np.isnan(used)
        weights = np.where(known, cells.seconds[inside], 0.0)
        whole = np.bincount(at, weights, steps)
        with np.errstate(invalid="ignore"):
            result: Numbers = np.bincount(at, np.where(known, used, 0.0) * weights, steps) / whole
        return result

    def extreme(values: Numbers, *, low: bool) -> Numbers:
        found = np.full(steps, np.nan)
        (np.fmin if low else np.fmax).at(found, at, values[inside])
        return found

    figures = {
        name: {
            measure: mean(values) if measure == "mean" else extreme(values, low=measure == "low")
            for measure, values in measures.items()
        }
        for name, measures in cells.figures.items()
    }
    return Stepped(mean(cells.pods), figures)


def busiest_pod(cells: RowCells, figure: str, *, begin: int, step_s: int, steps: int) -> Numbers:
    """What the busiest pod used in each step on average, where there is one pod; where there are several, the mean of the
    most that any of them used in each cell, which is never less."""
    kept = cells.figures.get(figure)
    if kept is None:
        return np.full(steps, np.nan)
    # One pod is all of them together, and of several none is more than that.
    busiest = {"mean": np.fmin(kept["mean"], kept["most"])}
    some = replace(cells, figures={figure: busiest})
    return stepped(some, begin=begin, step_s=step_s, steps=steps).figures[figure]["mean"]
