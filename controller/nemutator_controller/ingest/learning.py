"""Has what is stored learned in short turns of the event loop, so that nobody else waits long for it.

What comes at one moment is learned together, because numpy takes nearly as long for one report as for fifty. Each consumer has
a turn of the loop of its own. How many points make one too long nobody can say beforehand: those of containers that are new cost a
multiple of those that are known. So after a long turn the next ones bring fewer, and after short ones more.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_controller.ingest.points_together import Reported
from nemutator_controller.ingest.ports import UsageConsumer
from nemutator_controller.ingest.series_tables import SeriesTable
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints

log = logging.getLogger(__name__)

FEWEST_POINTS = 4_000
"""Of some ten reports: one by one they would cost more than twice as much, and all the more where processors are wanting."""

MOST_POINTS = 20_000
"""In one turn: some 50 reports of a minute."""

NEW_SERIES = 10
"""Points that take as long as one series that consumers have to ask the owner of: after a quiet time there is room for many reports in
a turn, and those of nodes that nobody knew yet would make it several times as long as any before."""

MOST_NODES = 10_000
"""Of which it is remembered what they have named."""

LONG_S = 0.03
"""For one turn; all that others get is what is left between two of them. Threads that compute beside it, of which there may be
two, make it as many times longer from one moment to the next."""


@dataclass(frozen=True, slots=True)
class Unlearned:
    node: str
    points: UsagePoints
    table: SeriesTable | None = None
    """It is let go once they are learned."""


@dataclass(slots=True, eq=False)
class _Group:
    """What is learned at once."""

    reports: list[Unlearned] = field(default_factory=list)
    points: int = 0
    """And for each series that is new as many as it takes as long as."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    unheard: bool = False
    """Some of it nobody waits for."""
    left: Iterator[UsageConsumer] | None = None
    """Consumers whose turn is to come; None: nobody has had his, and there may be room for more."""
    reported: Sequence[NodePoints] = ()
    now: float = 0.0
    longest_s: float = 0.0


@dataclass(slots=True)
class LearningTurns:
    consumers: Sequence[UsageConsumer]
    clock: Clock
    _groups: deque[_Group] = field(default_factory=deque, init=False)
    _room: int = field(default=FEWEST_POINTS, init=False)
    """How many points a group may have before the next one is begun."""
    _named: dict[str, tuple[Sequence[Series], int]] = field(default_factory=dict, init=False)
    """The series of each node, and how many of them are known, with the last heard of at the end."""

    async def learn(self, reports: Sequence[Unlearned]) -> None:
        """Return when all consumers have learned *reports*, as soon as it is their turn; what one of them raises is raised here."""
        groups = self._added(reports)
        for group in groups:
            await group.ended.wait()
        for group in groups:
            if group.failure is not None:
                raise group.failure

    def learn_late(self, reports: Sequence[Unlearned]) -> None:
        """Have *reports* learned when it is their turn, though nobody waits for it; what a consumer raises is logged."""
        for group in self._added(reports):
            group.unheard = True

    def _added(self, reports: Sequence[Unlearned]) -> Sequence[_Group]:
        """The groups that *reports* are in. A body of 8 MiB has 400 000 points, which are too many for one."""
        groups: list[_Group] = []
        for one in reports:
            new = NEW_SERIES * self._new_series(one)
            for points in one.points.parts(FEWEST_POINTS):
                group = self._open_group()
                group.reports.append(one if points is one.points else replace(one, points=points))
                group.points += len(points) + new
                new = 0
                if group not in groups[-1:]:
                    groups.append(group)
        return groups

    def _new_series(self, one: Unlearned) -> int:
        series = one.points.series
        before, known = self._named.pop(one.node, ((), 0))
        self._named[one.node] = series, len(series)
        if len(self._named) > MOST_NODES:
            del self._named[next(iter(self._named))]
        return len(series) - (known if before is series else 0)

    def _open_group(self) -> _Group:
        group = self._groups[-1] if self._groups else None
        if group is None or group.left is not None or group.points >= self._room:
            group = _Group()
            self._groups.append(group)
            if len(self._groups) == 1:
                self._schedule()
        return group

    def _schedule(self) -> None:
        asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        group = self._groups[0]
        if group.left is None:
            group.left = iter(self.consumers)
            group.now = self.clock.now()
            group.reported = Reported([NodePoints(one.node, one.points) for one in group.reports])
        begun = self.clock.monotonic()
        try:
            consumer = next(group.left, None)
            if consumer is not None:
                consumer.learn_all(group.reported, group.now)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            group.failure = error
            consumer = None
        group.longest_s = max(group.longest_s, self.clock.monotonic() - begun)
        if consumer is None:
            self._end(self._groups.popleft())
        if self._groups:
            self._schedule()

    def _end(self, group: _Group) -> None:
        for one in group.reports:
            if one.table is not None:
                one.table.close()
        if group.failure is not None and group.unheard:
            log.error("late_reports_not_learned", {names.ERROR: group.failure})
        if group.longest_s > LONG_S:
            self._room = max(self._room // 2, FEWEST_POINTS)
        elif group.longest_s < LONG_S / 4:
            self._room = min(self._room * 2, MOST_POINTS)
        group.ended.set()
