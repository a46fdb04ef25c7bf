"""What reports say was used, as arrays: one entry for each series and quarter of a minute.

A series is a cgroup, or a program in one, on one node. Its names are said once for each epoch of an agent,
so that who owns it has to be found out once, and not for every point.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Protocol, Self, overload

import msgspec
import numpy as np
import numpy.typing as npt
from nemutator_common.wire import Envelope, Summary
from nemutator_common.wire_columns import POINT_COLUMNS

Numbers = npt.NDArray[np.float64]

MOST_SERIES = 20_000
"""Series of one node that are told apart; when there are more, all of them are named anew."""


_TOLD = ("from_at", "to_at", *POINT_COLUMNS)
_told = attrgetter(*_TOLD)


class Series(msgspec.Struct, frozen=True, gc=False):
    """What numbers belong to, on one node."""

    path: str
    pod_uid: str | None
    container_id: str | None
    program: str | None


@dataclass(frozen=True, slots=True, eq=False)
class UsagePoints:
    """Parallel arrays with one entry for each point, in the order in which they were reported."""

    series: Sequence[Series]
    """All series of the node's epoch. It is the same object for as long as its entries mean the same, and
    only grows meanwhile: what was found out of an entry can be kept with it."""
    of: npt.NDArray[np.int32]
    """The entry of *series* that each point belongs to."""
    from_at: Numbers
    to_at: Numbers
    columns: Mapping[str, Numbers]
    """By name, such as `cpu_cores` and `memory_bytes`. NaN is what is not known."""

    def __len__(self) -> int:
        return len(self.of)

    def parts(self, most: int) -> Iterator[Self]:
        """Itself, or in its order parts with *most* points each."""
        if len(self) <= most:
            yield self
            return
        for begin in range(0, len(self), most):
            some = slice(begin, begin + most)
            yield replace(
                self,
                of=self.of[some],
                from_at=self.from_at[some],
                to_at=self.to_at[some],
                columns={name: column[some] for name, column in self.columns.items()},
            )

    def column(self, name: str) -> Numbers:
        """The column *name*; all of it is unknown when no report has it."""
        found = self.columns.get(name)
        return np.full(len(self.of), np.nan) if found is None else found


@dataclass(frozen=True, slots=True, eq=False)
class NodePoints:
    """What one node has reported."""

    node: str
    points: UsagePoints


class PointArrays(Protocol):
    """The arrays of `UsagePoints`, of one report."""

    @property
    def of(self) -> npt.NDArray[np.int32]: ...
    @property
    def from_at(self) -> Numbers: ...
    @property
    def to_at(self) -> Numbers: ...
    @property
    def columns(self) -> Mapping[str, Numbers]: ...


class NamedSeries(Sequence[Series]):
    """Series that get their number when they are named first."""

    def __init__(self) -> None:
        self._series: list[Series] = []
        self._numbers: dict[tuple[str | None, ...], int] = {}

    def __len__(self) -> int:
        return len(self._series)

    @overload
    def __getitem__(self, number: int) -> Series: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Series]: ...

    def __getitem__(self, number: int | slice) -> Series | Sequence[Series]:
        return self._series[number]

    def __iter__(self) -> Iterator[Series]:
        return iter(self._series)

    def number(self, one: Summary) -> int:
        name = one.path, one.pod_uid, one.container_id, one.program
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._series)
            self._series.append(Series(*name))
        return found


def points_of(series: NamedSeries, envelopes: Iterable[Envelope]) -> UsagePoints:
    """The summaries of *envelopes*; those of further series are named in *series*."""
    summaries = [one for envelope in envelopes for one in envelope.report.summaries]
    # None becomes NaN.
    told = np.array([_told(one) for one in summaries], dtype=np.float64)
    from_at, to_at, *columns = np.ascontiguousarray(told.reshape(-1, len(_TOLD)).T)
    return UsagePoints(
        series=series,
        of=np.array([series.number(one) for one in summaries], dtype=np.int32),
        from_at=from_at,
        to_at=to_at,
        columns=dict(zip(POINT_COLUMNS, columns, strict=True)),
    )


def joined(series: Sequence[Series], reported: Sequence[PointArrays]) -> UsagePoints:
    """The points of several reports, one after another."""
    if len(reported) == 1:
        one = reported[0]
        return UsagePoints(series, one.of, one.from_at, one.to_at, one.columns)
    unknown = [np.full(len(one.of), np.nan) for one in reported]
    found = {name for one in reported for name in one.columns}
    return UsagePoints(
        series=series,
        of=np.concatenate([one.of for one in reported]),
        from_at=np.concatenate([one.from_at for one in reported]),
        to_at=np.concatenate([one.to_at for one in reported]),
        columns={
            name: np.concatenate(
                [
                    one.columns.get(name, missing)
                    for one, missing in zip(reported, unknown, strict=True)
                ]
            )
            for name in found
        },
    )
