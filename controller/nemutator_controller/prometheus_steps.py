"""One series of an answer, by the steps that were asked for."""

from collections.abc import MutableMapping

import numpy as np
import numpy.typing as npt

from nemutator_controller.prometheus_answers import DUPLICATE, PrometheusSeries

ABSURD, OFF_GRID = "absurd", "off_grid"
"""Reasons for which a sample is left out: nothing is so much, or less than nothing; nobody asked for that moment."""

Numbers = npt.NDArray[np.float64]


def by_steps(
    series: PrometheusSeries,
    *,
    begin: float,
    step_s: float,
    steps: int,
    most: float,
    dropped: MutableMapping[str, int],
) -> Numbers:
    """A value for each step, NaN where nothing is known; a sample belongs to the step that ends with it. What is left out is
    counted in *dropped*, by reason."""
    at, values = np.asarray(series.at), np.asarray(series.values)
    place = (at - begin) / step_s - 1
    index = np.rint(place)
    on_grid = (np.abs(place - index) < 1e-3) & (index >= 0) & (index < steps)
    sound = on_grid & (values >= 0) & (values <= most)
    found = np.full(steps, np.nan)
    found[index[sound].astype(np.int64)] = values[sound]
    twice = sound.sum() - (~np.isnan(found)).sum()
    for reason, count in (
        (OFF_GRID, (~on_grid).sum()),
        (ABSURD, (on_grid & ~sound).sum()),
        (DUPLICATE, twice),
    ):
        if count:
            dropped[reason] = dropped.get(reason, 0) + int(count)
    return found
