"""What several nodes have reported, as arrays one after another: numpy takes nearly as long for the points of one report as for
those of fifty."""

from collections.abc import Sequence
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_points import NodePoints, Numbers

A = TypeVar("A", bound=np.generic)


class PointsTogether:
    """The points of nodes of which none is in it twice, so that what a consumer keeps of each can be looked up for all of
    them, and be put back for all of them. What it finds out is kept with it: several consumers ask for the same columns."""

    def __init__(self, reported: Sequence[NodePoints]) -> None:
        self.reported = tuple(reported)
        several = [one.points for one in self.reported]
        # Series are added while consumers wait for their turn; these have all points.
        sizes = [len(points.series) for points in several]
        self.ends = np.cumsum(sizes).tolist()
        """Where the series of each node end, among those of all."""
        self.counts: npt.NDArray[np.intp] = np.array([len(one) for one in several], dtype=np.intp)
        """Points of each node."""
        self.series: npt.NDArray[np.intp] = self._joined([points.of for points in several])
        """Of each point, the number of its series among those of all nodes."""
        if len(several) > 1:
            self.series = self.series + np.repeat(self._begins(), self.counts)
        self.from_at: Numbers = self._joined([points.from_at for points in several])
        self.to_at: Numbers = self._joined([points.to_at for points in several])
        self._columns: dict[str, Numbers | None] = {}

    def __len__(self) -> int:
        return len(self.series)

    def known(self, name: str) -> Numbers | None:
        """The column *name*, NaN where it is not known; None where nothing is known of it, as of a figure that no machine counts."""
        if name not in self._columns:
            found = [one.points.columns.get(name) for one in self.reported]
            there = any(one is not None and _has_any(one) for one in found)
            self._columns[name] = self._column(found) if there else None
        return self._columns[name]

    def column(self, name: str) -> Numbers:
        """The column *name*; all of it is NaN where nothing is known."""
        found = self.known(name)
        return np.full(len(self.series), np.nan) if found is None else found

    def by_series(self, kept: Sequence[npt.NDArray[A]]) -> npt.NDArray[A]:
        """What is *kept* of each node's series, for the series of all. An array may have more than that node had."""
        return self._joined(
            [one[: e - b] for one, b, e in zip(kept, self._begins(), self.ends, strict=True)]
        )

    def apart(self, found: npt.NDArray[A]) -> list[npt.NDArray[A]]:
        """Of something *found* for the series of all, the part of each node."""
        return [found[begin:end] for begin, end in zip(self._begins(), self.ends, strict=True)]

    def place(self, series: int) -> tuple[int, int]:
        """The node of one of *series*, and its number there."""
        node = next(number for number, end in enumerate(self.ends) if series < end)
        return node, series - self._begins()[node]

    def _begins(self) -> list[int]:
        return [0, *self.ends[:-1]]

    def _column(self, found: Sequence[Numbers | None]) -> Numbers:
        return self._joined(
            [
                np.full(count, np.nan) if one is None else one
                for one, count in zip(found, self.counts.tolist(), strict=True)
            ]
        )

    @staticmethod
    def _joined(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


class Reported(tuple[NodePoints, ...]):
    """What was reported, with its parts made once for all consumers."""

    parts: tuple[PointsTogether, ...]

    def __new__(cls, reported: Sequence[NodePoints]) -> Self:
        made = super().__new__(cls, reported)
        made.parts = tuple(_parts(made))
        return made


def parts_of(reported: Sequence[NodePoints]) -> Sequence[PointsTogether]:
    """All of *reported* that has any points, in its order. A node that has reported twice is in two parts."""
    return reported.parts if isinstance(reported, Reported) else Reported(reported).parts


def _parts(reported: Sequence[NodePoints]) -> list[PointsTogether]:
    parts: list[list[NodePoints]] = [[]]
    nodes = set[str]()
    for one in reported:
        if not len(one.points):
            continue
        if one.node in nodes:
            parts.append([])
            nodes.clear()
        nodes.add(one.node)
        parts[-1].append(one)
    return [PointsTogether(part) for part in parts if part]


def _has_any(values: Numbers) -> bool:
    return not (np.isnan(values[0]) and np.isnan(values).all())
