from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.hourly.filling import AGAIN_S, HoursFilling
from nemutator_controller.sizing.hourly.stepping import LATE_S, HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.hourly import ComputedAtOnce, MemoryHourlyStore, MemoryUsedLately, hours_of_use
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = ContainerKey("shop", "Deployment", "web", "app")
OTHER = ContainerKey("shop", "Deployment", "other", "app")
DAYS, HOURS = 8, 8 * 24
BEGIN = 472_000
CORES = hours_of_use(HOURS + 48)


@dataclass
class Recorded:
    """A `RecordedHours` that knows one container."""

    fails: int = 0
    asked: list[tuple[list[ContainerKey], int, int]] = field(default_factory=list)
    dropped: Mapping[str, int] = field(default_factory=dict)

    async def hours(
        self, keys: Collection[ContainerKey], *, begin: int, end: int
    ) -> Mapping[ContainerKey, Numbers]:
        self.asked.append((list(keys), begin - BEGIN, end - BEGIN))
        self.dropped = {"absurd": len(self.asked)}
        if self.fails:
            self.fails -= 1
            raise SourceUnavailableError("slow")
        return {WEB: CORES[begin - BEGIN : end - BEGIN]}


class Filling:
    def __init__(self, *, fails: int = 0) -> None:
        self.clock, self.meter = ManualClock((BEGIN + HOURS) * 3_600.0 + LATE_S), MemoryMeter()
        process = fake_process(clock=self.clock, meter=self.meter)
        lately = MemoryUsedLately(BEGIN + HOURS - 24, CORES[HOURS - 24 :])
        self.requests = HourlyRequests(lately, MemoryHourlyStore(), ComputedAtOnce(), process)
        self.source, self.ready = Recorded(fails=fails), True
        self.filling = HoursFilling(
            self.requests, self.source, process, lambda: self.ready, days=DAYS
        )

    def is_followed(self) -> bool:
        found = self.requests.of(WEB)
        return found is not None and found.millis is not None


async def test_a_new_policy_does_not_wait_for_a_week_that_others_have_recorded() -> None:
    one = Filling()
    one.requests.want([WEB, OTHER])
    await one.requests.step()
    assert not one.is_followed()
    assert await one.filling.fill()
    await one.requests.step()
    assert one.is_followed()
    assert one.source.asked == [([OTHER, WEB], 0, HOURS)]
    assert one.meter.value(names.SOURCE_SAMPLES_DROPPED, reason="absurd") == 1


async def test_each_is_asked_for_once_a_day_and_no_longer_than_it_lacks_hours() -> None:
    one = Filling()
    one.requests.want([WEB, OTHER])
    await one.requests.step()
    for _ in range(3):
        await one.filling.fill()
        await one.requests.step()
    assert len(one.source.asked) == 1
    one.clock.jump(24 * 3_600)
    await one.requests.step()
    await one.filling.fill()
    assert one.source.asked[1:] == [([OTHER], 24, HOURS + 24)]


async def test_who_fails_is_asked_again_and_nobody_before_it_is_known_whose_pods_are() -> None:
    one = Filling(fails=1)
    one.requests.want([WEB])
    await one.requests.step()
    one.ready = False
    async with in_background(one.filling.run(), one.clock):
        await one.clock.until_sleeping()
        assert one.source.asked == []
        one.ready = True
        for _ in range(2):
            await one.clock.advance(AGAIN_S)
            await one.clock.until_sleeping()
    assert len(one.source.asked) == 2
    assert one.meter.value(names.SOURCE_READS, result="failed") == 1
    await one.requests.step()
    assert one.is_followed()


async def test_nothing_is_asked_where_no_policy_wants_it() -> None:
    one = Filling()
    await one.requests.step()
    assert await one.filling.fill()
    assert one.source.asked == []
