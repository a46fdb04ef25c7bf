"""Hours of use and where they are saved, in memory."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.hourly.points import (
    PER_HOUR,
    STEP_S,
    HourlyPoints,
    KeptHours,
)
from nemutator_controller.sizing.hourly.requests import HourlyRequest, hourly_request
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.strategies.few_changes import Millis, in_millis
from nemutator_controller.sizing.strategies.known import STRATEGIES
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse
from nemutator_controller.updating.records import HourlyAmount, SizedWorkload

STRATEGY = "nemutator-hourly"


def hours_of_use(hours: int, seed: int = 1) -> Numbers:
    """By hours and steps: a working day, a night, and some noise."""
    random = np.random.default_rng(seed)
    time = np.arange(hours * PER_HOUR) / PER_HOUR
    day = 0.15 + 0.35 * ((time % 24 > 8) & (time % 24 < 18))
    return (day * (1 + 0.15 * random.random(len(time)))).reshape(hours, PER_HOUR)


class MemoryUsedLately:
    """A `UsedLately`: hours from *begin* on, of every container."""

    def __init__(self, begin: int, cores: Numbers) -> None:
        self.begin, self.known = begin, cores
        self.stopped = 0.0

    def cores(self, key: ContainerKey, *, begin: int, hours: int) -> Numbers:
        found = np.full((hours, PER_HOUR), np.nan)
        for number in range(hours):
            at = begin + number - self.begin
            if 0 <= at < len(self.known):
                found[number] = self.known[at]
        return found

    def throttled(self, key: ContainerKey, *, hour: int) -> float:
        return self.stopped


class ComputedAtOnce:
    """A `HourlyComputing`."""

    async def take(self, turns: Iterator[None]) -> None:
        for _ in turns:
            pass


def replayed_alone(points: HourlyPoints) -> Millis:
    """What `nemutator replay` asks for in each hour of *points* and in the one after them."""
    ahead = np.full((1, PER_HOUR), np.nan)
    steps = np.concatenate([points.cores(), ahead]).reshape(1, -1)
    strategy = STRATEGIES["nemutator"]["cpu"]
    return in_millis(strategy.request(RecordedUse("", STEP_S, steps), strategy.number))


def request_alone(points: HourlyPoints, *, throttled: float = 0.0) -> HourlyRequest:
    return hourly_request(points, replayed_alone(points), throttled=throttled)


class MemoryHourlyStore:
    """A `HourlyStore`."""

    def __init__(self) -> None:
        self.rows: dict[ContainerKey, KeptHours] = {}
        self.saves = 0

    async def load(self) -> Mapping[ContainerKey, KeptHours]:
        return dict(self.rows)

    async def save(
        self, kept: Mapping[ContainerKey, KeptHours], gone: Collection[ContainerKey]
    ) -> None:
        self.saves += bool(kept or gone)
        self.rows = {key: one for key, one in self.rows.items() if key not in gone}
        self.rows.update(kept)


class MemoryHourly:
    """A `HourlyAdvice` that says the same of all containers."""

    def __init__(self) -> None:
        self.wanted: set[tuple[SizedWorkload, str]] = set()
        self.amount: HourlyAmount | None = None

    def say(self, cpu: str | None, reason: str = "") -> None:
        target = None if cpu is None else parse_quantity(cpu)
        self.amount = HourlyAmount(strategy=STRATEGY, target=target, reason=reason)

    def want(self, containers: Collection[tuple[SizedWorkload, str]]) -> None:
        self.wanted = set(containers)

    def of(self, workload: SizedWorkload, container: str) -> HourlyAmount | None:
        return self.amount
