"""A day in cells of five minutes: the mean, the lowest and the highest minute, the most of one pod."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.cells import MEASURES
from nemutator_controller.history.figures import Figure
from nemutator_controller.history.minutes import MINUTE_S, MinuteView, Moments, RowNumbers
from nemutator_controller.ingest.usage_codes import (
    FineCodes,
    Numbers,
    decode_fine,
    encode_fine_known,
)

FIVE_S = 300
MINUTES = FIVE_S // MINUTE_S
CELLS = 300
"""Cells that are kept, 25 hours. A cell lies at its number (of five minutes each) modulo this."""


@dataclass(frozen=True, slots=True)
class DayView:
    """Some rows in some cells, as matrices with one line for each row; NaN: not known."""

    pods: Numbers
    figures: Mapping[str, Mapping[str, Numbers]]
    """By name and measure."""


class Days:
    """Matrices with a line for each row and a column for each of the last cells, on the fine scale; cell by cell in memory, as
    those of minutes."""

    def __init__(self, figures: Sequence[Figure], *, rows: int) -> None:
        self.rows = rows
        self.figures = tuple(figures)
        self.pods: FineCodes = np.zeros((CELLS, rows), dtype=np.uint16).T
        self.by_figure: dict[str, dict[str, FineCodes]] = {}

    def figure(self, name: str) -> dict[str, FineCodes]:
        found = self.by_figure.get(name)
        if found is None:
            found = self.by_figure[name] = {
                measure: np.zeros((CELLS, self.rows), dtype=np.uint16).T for measure in MEASURES
            }
        return found

    def put(self, rows: slice, cell: int, view: MinuteView) -> None:
        """Write *cell* from its minutes; what is not known there is forgotten here."""
        at = cell % CELLS
        seconds = view.seconds.sum(axis=1)
        known = seconds > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            pods = (view.pods * view.seconds).sum(axis=1) / seconds
        self.pods[rows, at] = encode_fine_known(np.where(known, pods, np.nan))
        for one in self.figures:
            mean = view.mean.get(one.name)
            if mean is None and one.name not in self.by_figure:
                continue
            kept = self.figure(one.name)
            if mean is None:
                for matrix in kept.values():
                    matrix[rows, at] = 0
                continue
            found = summed(mean, view.seconds, view.most[one.name])
            for measure, matrix in kept.items():
                matrix[rows, at] = encode_fine_known(found[measure])

    def clear(self, cells: Moments, *, used: int) -> None:
        for matrix in self.matrices():
            matrix[:used, cells] = 0

    def clear_row(self, row: int) -> None:
        for matrix in self.matrices():
            matrix[row] = 0

    def view(self, rows: RowNumbers, cells: Moments) -> DayView:
        at = cells % CELLS

        def part(matrix: FineCodes) -> Numbers:
            return decode_fine(matrix[rows][:, at])

        return DayView(
            part(self.pods),
            {
                name: {measure: part(matrix) for measure, matrix in kept.items()}
                for name, kept in self.by_figure.items()
            },
        )

    def matrices(self) -> list[FineCodes]:
        return [self.pods, *(m for kept in self.by_figure.values() for m in kept.values())]


def summed(mean: Numbers, weight: Numbers, most: Numbers) -> dict[str, Numbers]:
    """The four measures over the columns of *mean*, of which each counts by its *weight*; NaN: not known."""
    known = ~np.isnan(mean)
    counted = np.where(known, weight, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = (np.where(known, mean, 0.0) * counted).sum(axis=1) / counted.sum(axis=1)
    some = known.any(axis=1)

    def extreme(values: npt.NDArray[np.float64]) -> Numbers:
        return np.where(some, values, np.nan)

    return {
        "mean": average,
        "low": extreme(np.where(known, mean, np.inf).min(axis=1, initial=np.inf)),
        "high": extreme(np.where(known, mean, -np.inf).max(axis=1, initial=-np.inf)),
        "most": extreme(np.where(known, most, -np.inf).max(axis=1, initial=-np.inf)),
    }
