"""The last two hours, minute by minute: sums to which a report can still add what it brings late.

Of each minute and row there are the pods' use summed over time (so the order of reports and nodes does not
matter, and pods that come and go count for as long as they ran), the time that they ran, the part of the minute
that anybody reported, and the most that one pod used. Plots and capacity need the sum of pods, and what one pod
should request needs the most of one: neither can be told from the other, so both are kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.figures import Figure
from nemutator_controller.ingest.usage_codes import FineCodes, Numbers, decode_fine, encode_fine

MINUTE_S = 60
CELLS = 120
"""Minutes that are kept. A minute lies at its number modulo this."""

_PARTS = 2
"""Parts of a second in which the begin and end of what was reported of a minute are kept."""
_NEVER = 255

RowNumbers = npt.NDArray[np.intp]
Moments = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MinuteFigure:
    total: npt.NDArray[np.float32]
    """Use of all pods times the seconds for which they used it."""
    most: FineCodes
    """The most that one pod used, on the fine scale. Unknown where the whole figure is."""


@dataclass(frozen=True, slots=True)
class MinuteView:
    """Some rows in some minutes, as matrices with one line for each row."""

    seconds: Numbers
    """Of each minute that were reported; 0: nobody knows anything of it."""
    pods: Numbers
    """How many pods there were, as a mean over those seconds."""
    mean: Mapping[str, Numbers]
    """Of each figure the sum of pods (or, of one that does not add, their mean); NaN: not known."""
    most: Mapping[str, Numbers]


class Minutes:
    """Matrices with a line for each row and a column for each of the last minutes.

    Minute by minute in memory, of which what was never written is not taken from the system: numpy asks for zeroed pages. And a
    minute that begins is cleared as one piece: row by row, it would be somewhere else in each of 20 000 lines of a dozen matrices.
    """

    def __init__(self, figures: Sequence[Figure], *, rows: int) -> None:
        self.rows = rows
        self.figures = tuple(figures)
        self.time: npt.NDArray[np.float32] = np.zeros((CELLS, rows), dtype=np.float32).T
        """Seconds that all pods ran, added up."""
        self.unbegun: npt.NDArray[np.uint8] = np.zeros((CELLS, rows), dtype=np.uint8).T
        """`_NEVER` less the first moment of the minute that was reported: zeroed pages mean never."""
        self.ended: npt.NDArray[np.uint8] = np.zeros((CELLS, rows), dtype=np.uint8).T
        self.by_figure: dict[str, MinuteFigure] = {}

    def figure(self, name: str) -> MinuteFigure:
        """The matrices of a figure, which begin when it is first known."""
        found = self.by_figure.get(name)
        if found is None:
            shape = (CELLS, self.rows)
            found = self.by_figure[name] = MinuteFigure(
                np.zeros(shape, dtype=np.float32).T, np.zeros(shape, dtype=np.uint16).T
            )
        return found

    def add(
        self,
        rows: RowNumbers,
        cells: Moments,
        begin: Numbers,
        end: Numbers,
        columns: Mapping[str, Numbers],
    ) -> None:
        """Points that lie within one minute each, of which *begin* and *end* are seconds."""
        at = cells * self.rows + rows
        seconds = (end - begin).astype(np.float32)
        np.add.at(self.time.T.reshape(-1), at, seconds)
        first = (_NEVER - begin * _PARTS).astype(np.uint8)
        np.maximum.at(self.unbegun.T.reshape(-1), at, first)
        np.maximum.at(self.ended.T.reshape(-1), at, np.ceil(end * _PARTS).astype(np.uint8))
        for name, values in columns.items():
            where, used, during = at, values, seconds
            unknown = np.isnan(values)
            if unknown.any():
                if unknown.all():
                    continue
                known = ~unknown
                where, used, during = at[known], values[known], seconds[known]
            figure = self.figure(name)
            np.add.at(figure.total.T.reshape(-1), where, (used * during).astype(np.float32))
            np.maximum.at(figure.most.T.reshape(-1), where, encode_fine(used))

    def clear(self, cells: Moments, *, used: int) -> None:
        """Forget the columns *cells* of the first *used* rows: other minutes begin there."""
        for matrix in self.matrices():
            matrix[:used, cells] = 0

    def clear_row(self, row: int) -> None:
        for matrix in self.matrices():
            matrix[row] = 0

    def view(
        self, rows: RowNumbers | slice, minutes: Moments, *, weekly: bool = False
    ) -> MinuteView:
        """*weekly*: only of figures that have a usual week."""
        cells = minutes % CELLS

        def part(matrix: npt.NDArray[np.generic]) -> Numbers:
            return matrix[rows][:, cells].astype(np.float64)

        ended, unbegun, time = part(self.ended), part(self.unbegun), part(self.time)
        seconds = np.where(unbegun > 0, (ended - (_NEVER - unbegun)) / _PARTS, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            pods = np.where(seconds > 0, time / seconds, 0.0)
            mean, most = {}, {}
            for one in self.figures:
                kept = self.by_figure.get(one.name)
                if kept is None or (weekly and one.weekly is None):
                    continue
                codes = kept.most[rows][:, cells]
                over = seconds if one.adds else time
                mean[one.name] = np.where(codes > 0, part(kept.total) / over, np.nan)
                most[one.name] = decode_fine(codes)
        return MinuteView(seconds, pods, mean, most)

    def matrices(self) -> list[npt.NDArray[np.generic]]:
        figures = self.by_figure.values()
        return [
            self.time,
            self.unbegun,
            self.ended,
            *(one.total for one in figures),
            *(one.most for one in figures),
        ]
