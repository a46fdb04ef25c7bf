"""What the strategy asks for, of all containers that are followed: pure.

They are stepped together by the hour. Who is new is replayed from its own points, apart from the others, and then goes on with
them. So each has what a replay of its points alone says: hours before its first one say nothing of it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_codes import UNKNOWN, decode_fine
from nemutator_controller.sizing.hourly.points import PER_HOUR, HourlyPoints
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.strategies.few_changes import Millis, in_millis
from nemutator_controller.sizing.strategies.hourly_cpu import HourlyCpu
from nemutator_controller.sizing.strategies.recorded_use import Numbers

_KEPT_MILLIS = np.int32
"""10 000 cores, which is the most that is believed, have room in it a hundred times."""


@dataclass(slots=True)
class _Wanted:
    begin: int
    """The first hour of its points."""
    millis: npt.NDArray[np.int32]
    """In each hour from then on, and in the one after them."""


class FollowedContainers:
    def __init__(self) -> None:
        self._cpu = HourlyCpu(0)
        """Its hours are counted from the epoch."""
        self._wanted: dict[ContainerKey, _Wanted] = {}
        """In the order of its rows."""

    def known(self) -> Collection[ContainerKey]:
        return list(self._wanted)

    def wanted(self, key: ContainerKey) -> Millis:
        """In each hour of its points, and in the one after them."""
        return self._wanted[key].millis.astype(np.int64)

    def keep(self, points: Mapping[ContainerKey, HourlyPoints], hour: int) -> None:
        """Forget all others, and those whose points begin at another hour than before; after a clock was set back, which
        *hour* shows, all."""
        known = {
            key: (row, one)
            for row, (key, one) in enumerate(self._wanted.items())
            if key in points and points[key].begin == one.begin and self._cpu.hour <= hour
        }
        if len(known) < len(self._wanted):
            self._cpu = self._cpu.taken([row for row, _ in known.values()])
            self._wanted = {key: one for key, (_, one) in known.items()}
        if not known:
            self._cpu.hour = hour

    def step(self, points: Mapping[ContainerKey, HourlyPoints], hour: int) -> Iterator[None]:
        """Go on with all that are known up to *hour*, some of it at each step."""
        known = [points[key] for key in self._wanted]
        for at in range(self._cpu.hour, hour):
            yield from self._cpu.in_slices(_used(known, at))
            millis = in_millis(self._cpu.requested).astype(_KEPT_MILLIS)
            for one, asked in zip(self._wanted.values(), millis, strict=True):
                one.millis = np.append(one.millis, asked)

    def replay(self, points: Mapping[ContainerKey, HourlyPoints]) -> Iterator[None]:
        """Take in these that are not known, from their first hours on up to where the others are, some of it at each step."""
        begin = min(one.begin for one in points.values())
        cpu = HourlyCpu(len(points))
        cpu.hour = begin
        series = list(points.values())
        requested = [cpu.requested.copy()]
        for at in range(begin, self._cpu.hour):
            yield from cpu.in_slices(_used(series, at))
            requested.append(cpu.requested.copy())
        millis = in_millis(np.stack(requested, axis=1)).astype(_KEPT_MILLIS)
        for row, (key, one) in enumerate(points.items()):
            self._wanted[key] = _Wanted(one.begin, millis[row, one.begin - begin :].copy())
        self._cpu = self._cpu.joined(cpu)


def _used(series: Sequence[HourlyPoints], hour: int) -> Numbers:
    """Containers by steps of that hour; NaN before it began."""
    unknown = np.full(PER_HOUR, UNKNOWN, dtype=np.uint16)
    codes = [one.codes[hour - one.begin] if hour >= one.begin else unknown for one in series]
    return decode_fine(np.stack(codes))
