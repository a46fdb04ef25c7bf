"""Keeps the hours of those containers that a policy wants hourly requests for, and makes a request once an hour.

Points come from the history as soon as an hour is over. Only these containers have hours of their own, so memory is bounded
by how many there may be: 17 KB each, with what the strategy knows of them.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.hourly.followed_containers import FollowedContainers
from nemutator_controller.sizing.hourly.points import HourlyPoints, KeptHours, points_of
from nemutator_controller.sizing.hourly.ports import HourlyComputing, HourlyStore, UsedLately
from nemutator_controller.sizing.hourly.requests import (
    HourlyRequest,
    hourly_request,
    lacks_hours,
)
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, HOUR_S

log = logging.getLogger(__name__)

CHECK_S = 15.0
LATE_S = 120.0
"""An hour is taken so long after its end: the last reports of it have come, and where several brains share a database,
whoever learns has saved them."""

MOST = 2_000
"""Containers, in 34 MB: beside 150 000 pods the brain has room for hardly more."""

REPLAYED_AT_ONCE = 500
"""Containers that are new are replayed together, which costs much less than one by one; after so many they have requests."""

FORGOTTEN_S = 2 * 86_400.0
"""Hours that no policy wants are kept for so long: one that is taken back for a day need not wait for a week again."""

STEP = 100
"""Rows in one transaction: reports must not wait long behind it."""


@dataclass(slots=True)
class HourlyRequests:
    used: UsedLately
    store: HourlyStore
    computing: HourlyComputing
    process: Process
    most: int = MOST
    _kept: dict[ContainerKey, KeptHours] = field(default_factory=dict, init=False)
    _followed: FollowedContainers = field(default_factory=FollowedContainers, init=False)
    _requests: dict[ContainerKey, HourlyRequest] = field(default_factory=dict, init=False)
    _wanted: frozenset[ContainerKey] = field(default=frozenset(), init=False)
    _unsaved: set[ContainerKey] = field(default_factory=set, init=False)
    _gone: set[ContainerKey] = field(default_factory=set, init=False)
    _recorded: dict[ContainerKey, tuple[int, Numbers]] = field(default_factory=dict, init=False)
    """Hours that others have recorded, from the first one on, which the next step takes."""

    def want(self, keys: Collection[ContainerKey]) -> None:
        """All that policies want now."""
        self._wanted = frozenset(keys)

    def of(self, key: ContainerKey) -> HourlyRequest | None:
        """For the hour that is now, or why there is none; None: no policy wants it."""
        if key not in self._wanted:
            return None
        found, hour = self._requests.get(key), int(self.process.clock.now() // HOUR_S)
        if found is None:
            why = "its hours are not gathered yet"
            if key not in self._kept and len(self._kept) >= self.most:
                why = f"{self.most} containers have hourly requests, which is all that may"
            return HourlyRequest(hour=hour, millis=None, reason=why)
        if not hour - 1 <= found.hour <= hour:
            return HourlyRequest(hour=hour, millis=None, reason="its last hour is not gathered yet")
        return found

    def now(self) -> Mapping[ContainerKey, HourlyRequest]:
        """Of all that are wanted."""
        return {key: found for key in self._wanted if (found := self.of(key)) is not None}

    def kept(self) -> list[ContainerKey]:
        """Those that policies want and whose hours are kept."""
        return sorted(self._wanted & self._kept.keys())

    def lacks(self, key: ContainerKey) -> bool:
        """Whether too little of its last week is known."""
        kept = self._kept.get(key)
        return kept is not None and lacks_hours(kept.points)

    def fill(self, begin: int, cores: Mapping[ContainerKey, Numbers]) -> None:
        """Take hours from *begin* on where nothing is known, at the next step."""
        self._recorded.update({key: (begin, one) for key, one in cores.items()})

    async def run(self) -> None:
        restored = False
        while True:
            try:
                if not restored:
                    await self.restore()
                    restored = True
                await self.step()
            except StoreUnavailableError as failure:
                log.warning("hourly_points_not_saved", {names.REASON: failure.reason})
            await self.process.clock.sleep(CHECK_S)

    async def restore(self) -> None:
        """Know what is saved, and nothing else: another brain may have led meanwhile."""
        self._kept = dict(await self.store.load())
        self._followed = FollowedContainers()
        self._requests, self._unsaved, self._gone, self._recorded = {}, set(), set(), {}

    async def step(self) -> None:
        """Take the hours that are over, and make the requests that are due."""
        now = self.process.clock.now()
        hour = int((now - LATE_S) // HOUR_S)
        self._forget(now)
        for key in sorted(self._wanted):
            self._keep(key, hour, now)
        for key in [key for key, one in self._kept.items() if one.points.end != hour]:
            self._gather(key, hour)
            await self.process.clock.sleep(0)
        await self._follow(hour, self._fill())
        self._measure()
        await self._save()

    def _forget(self, now: float) -> None:
        old = [key for key, one in self._kept.items() if now - one.wanted_at > FORGOTTEN_S]
        for key in old:
            del self._kept[key]
        self._gone.update(old)
        self._unsaved.difference_update(old)
        self._requests = {key: one for key, one in self._requests.items() if key in self._kept}

    def _keep(self, key: ContainerKey, hour: int, now: float) -> None:
        kept = self._kept.get(key)
        if kept is None:
            if len(self._kept) >= self.most:
                return
            self._kept[key] = KeptHours(self._newest(key, hour), now)
            self._gone.discard(key)
            self._unsaved.add(key)
        elif now - kept.wanted_at >= HOUR_S:
            self._kept[key] = KeptHours(kept.points, now)
            self._unsaved.add(key)

    def _gather(self, key: ContainerKey, hour: int) -> None:
        kept = self._kept[key]
        points = kept.points
        if points.begin >= hour:
            points = self._newest(key, hour)
        elif points.end > hour:
            # The clock was ahead and is set back.
            points = points.until(hour)
        elif points.end < hour:
            begin = max(points.end, hour - DAY_HOURS)
            cores = self.used.cores(key, begin=begin, hours=hour - begin)
            points = points.with_hours(begin, cores)
        self._kept[key] = KeptHours(points, kept.wanted_at)
        self._unsaved.add(key)

    def _fill(self) -> set[ContainerKey]:
        """Those whose hours are others than they were."""
        filled, recorded = set(), self._recorded
        self._recorded = {}
        for key, (begin, cores) in recorded.items():
            if (kept := self._kept.get(key)) is None:
                continue
            points = kept.points.filled(begin, cores)
            if points.begin == kept.points.begin and (points.codes == kept.points.codes).all():
                continue
            self._kept[key] = KeptHours(points, kept.wanted_at)
            self._unsaved.add(key)
            self._requests.pop(key, None)
            filled.add(key)
        return filled

    def _newest(self, key: ContainerKey, hour: int) -> HourlyPoints:
        """What the history knows of it: a day."""
        begin = hour - DAY_HOURS
        return points_of(begin, self.used.cores(key, begin=begin, hours=DAY_HOURS))

    async def _follow(self, hour: int, filled: Collection[ContainerKey]) -> None:
        """Make the requests of those that were followed, then of those that have to be replayed first: new ones, and
        those that were *filled*."""
        points = {key: self._kept[key].points for key in sorted(self._wanted & self._kept.keys())}
        same = {key: one for key, one in points.items() if key not in filled}
        self._followed.keep(same, hour)
        await self.computing.take(self._followed.step(points, hour))
        await self._request(self._followed.known())
        new = sorted(points.keys() - self._followed.known(), key=lambda key: points[key].begin)
        for begin in range(0, len(new), REPLAYED_AT_ONCE):
            some = new[begin : begin + REPLAYED_AT_ONCE]
            await self.computing.take(self._followed.replay({key: points[key] for key in some}))
            await self._request(some)

    async def _request(self, keys: Collection[ContainerKey]) -> None:
        """Make requests of those that have none for their hour."""
        for key in keys:
            points, before = self._kept[key].points, self._requests.get(key)
            if before is not None and before.hour == points.end:
                continue
            throttled = self.used.throttled(key, hour=points.end - 1)
            made = hourly_request(points, self._followed.wanted(key), throttled=throttled)
            self._requests[key] = made
            if before is not None and None not in (before.millis, made.millis):
                self.process.meter.count(
                    names.HOURLY_STEPS, result="changed" if made.millis != before.millis else "same"
                )
            await self.process.clock.sleep(0)

    def _measure(self) -> None:
        requests = [self._requests.get(key) for key in self._wanted]
        followed = sum(one is not None and one.millis is not None for one in requests)
        meter = self.process.meter
        meter.gauge(names.HOURLY_CONTAINERS, followed, state="followed")
        meter.gauge(names.HOURLY_CONTAINERS, len(requests) - followed, state="waits")

    async def _save(self) -> None:
        gone = frozenset(self._gone)
        unsaved = sorted(self._unsaved)
        # At least once: there may be nothing but what is gone.
        for begin in range(0, max(len(unsaved), 1), STEP):
            some = unsaved[begin : begin + STEP]
            await self.store.save({key: self._kept[key] for key in some}, gone)
            self._unsaved.difference_update(some)
            self._gone.difference_update(gone)
            gone = frozenset()
