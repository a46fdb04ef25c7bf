import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.sizing.hourly.points import KeptHours, points_of
from nemutator_controller.sizing.hourly.stepping import FORGOTTEN_S, LATE_S, HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey

from tests.fakes.clocks import ManualClock
from tests.fakes.hourly import (
    ComputedAtOnce,
    MemoryHourlyStore,
    MemoryUsedLately,
    hours_of_use,
    request_alone,
)
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = ContainerKey("shop", "Deployment", "web", "app")
OTHER = ContainerKey("shop", "Deployment", "other", "app")
DAY, WEEK = 24, 168
BEGIN = 472_000


class Steps:
    def __init__(self, hours: int = WEEK + 2 * DAY, *, known: int = WEEK, most: int = 10) -> None:
        """What was used for so many *hours*, of which *known* are saved."""
        self.clock, self.meter = ManualClock((BEGIN + known) * 3_600.0 + LATE_S), MemoryMeter()
        cores = hours_of_use(hours)
        self.used, self.store = MemoryUsedLately(BEGIN, cores), MemoryHourlyStore()
        self.cores = cores
        if known:
            self.store.rows[WEB] = KeptHours(points_of(BEGIN, cores[:known]), self.clock.now())
        self.requests = self.restarted(most)

    def restarted(self, most: int = 10) -> HourlyRequests:
        process = fake_process(clock=self.clock, meter=self.meter)
        self.requests = HourlyRequests(self.used, self.store, ComputedAtOnce(), process, most)
        return self.requests

    async def hour(self, hours: float = 1) -> None:
        self.clock.jump(hours * 3_600)
        await self.requests.step()


async def test_once_an_hour_the_request_of_that_hour_is_made_from_all_before_it() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    for passed in range(3):
        await one.requests.step()
        found = one.requests.of(WEB)
        assert found == request_alone(points_of(BEGIN, one.cores[: WEEK + passed]))
        assert found is not None
        assert found.millis is not None
        one.clock.jump(3_600)
    steps = one.meter.value(names.HOURLY_STEPS, result="same")
    assert steps + one.meter.value(names.HOURLY_STEPS, result="changed") == 2
    assert one.meter.value(names.HOURLY_CONTAINERS, state="followed") == 1


async def test_an_hour_is_taken_when_its_last_reports_have_come() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    one.clock.jump(3_600 - LATE_S + 1)
    await one.requests.step()
    found = one.requests.of(WEB)
    assert found is not None
    assert found.hour == BEGIN + WEEK


async def test_after_a_restart_it_goes_on_where_it_was() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    await one.hour()
    before = one.requests.now()
    assert before
    again = one.restarted()
    await again.restore()
    again.want([WEB])
    await again.step()
    assert again.now() == before


async def test_a_container_that_is_new_to_it_begins_with_the_day_that_the_history_has() -> None:
    one = Steps(known=0)
    one.clock.jump(100 * 3_600)
    one.requests.want([WEB])
    await one.requests.step()
    found = one.requests.of(WEB)
    assert found is not None
    assert found.reason == "it is known for 24 of at least 168 hours"
    assert one.store.rows[WEB].points.begin == BEGIN + 76
    assert one.meter.value(names.HOURLY_CONTAINERS, state="waits") == 1


async def test_what_passed_while_no_brain_ran_is_taken_from_the_history_up_to_a_day() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.hour(30)
    cores = one.store.rows[WEB].points.cores()
    unknown = np.flatnonzero(np.isnan(cores).all(axis=1))
    assert unknown.tolist() == list(range(WEEK, WEEK + 6))
    assert len(cores) == WEEK + 30


async def test_a_clock_that_was_ahead_leaves_no_hours_to_come() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.hour(-3)
    assert one.store.rows[WEB].points.end == BEGIN + WEEK - 3
    await one.hour(-WEEK)
    assert one.store.rows[WEB].points.end == BEGIN - 3
    assert one.store.rows[WEB].points.begin == BEGIN - 3 - DAY


async def test_only_what_policies_want_has_hours_and_only_so_many() -> None:
    one = Steps(most=1)
    await one.requests.restore()
    assert one.requests.of(WEB) is None
    one.requests.want([WEB, OTHER])
    await one.requests.step()
    found = one.requests.of(OTHER)
    assert found is not None
    assert found.reason == "1 containers have hourly requests, which is all that may"
    assert set(one.store.rows) == {WEB}


async def test_hours_that_nobody_has_wanted_for_two_days_are_forgotten() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    one.requests.want([])
    await one.hour(FORGOTTEN_S / 3_600)
    assert set(one.store.rows) == {WEB}
    assert one.requests.now() == {}
    await one.hour()
    assert one.store.rows == {}


async def test_a_request_of_an_hour_that_is_over_is_none() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    one.clock.jump(2 * 3_600)
    found = one.requests.of(WEB)
    assert found is not None
    assert (found.millis, found.reason) == (None, "its last hour is not gathered yet")


async def test_nothing_is_written_while_no_hour_ends() -> None:
    one = Steps()
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    saves = one.store.saves
    one.clock.jump(60)
    await one.requests.step()
    assert one.store.saves == saves


async def test_containers_that_come_and_go_and_a_restart_change_no_request() -> None:
    one = Steps(hours=WEEK + 2 * DAY, known=WEEK - 2)
    late = points_of(BEGIN + 5, one.cores[5 : WEEK - 2])
    one.store.rows[OTHER] = KeptHours(late, one.clock.now())
    await one.requests.restore()
    followed = 0
    for passed, wanted in enumerate(([WEB], [WEB, OTHER], [OTHER], [], [WEB, OTHER], [OTHER, WEB])):
        one.requests.want(wanted)
        await one.hour(1 + passed % 3)
        if passed == 4:
            await one.restarted().restore()
            one.requests.want(wanted)
            await one.requests.step()
        requests = one.requests.now()
        assert set(requests) == set(wanted)
        for key, found in requests.items():
            assert found == request_alone(one.store.rows[key].points)
            followed += found.millis is not None
    assert followed > 4


@pytest.mark.parametrize("stopped", [0.0, 0.5])
async def test_who_was_stopped_at_its_limit_has_no_request(stopped: float) -> None:
    one = Steps()
    one.used.stopped = stopped
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    found = one.requests.of(WEB)
    assert found is not None
    assert (found.millis is None) == (stopped > 0)


async def test_hours_that_others_have_recorded_count_as_if_they_had_been_gathered() -> None:
    one = Steps(known=0)
    one.clock.jump(WEEK * 3_600)
    one.requests.want([WEB])
    await one.requests.step()
    assert one.requests.lacks(WEB)
    one.requests.fill(BEGIN, {WEB: one.cores[:WEEK], OTHER: one.cores[:WEEK]})
    await one.requests.step()
    assert not one.requests.lacks(WEB)
    found = one.requests.of(WEB)
    assert found == request_alone(points_of(BEGIN, one.cores[:WEEK]))
    assert found is not None
    assert found.millis is not None
    assert set(one.store.rows) == {WEB}
    assert one.store.rows[WEB].points.begin == BEGIN


async def test_a_gap_that_is_filled_is_replayed() -> None:
    one = Steps(hours=WEEK + 4 * DAY)
    await one.requests.restore()
    one.requests.want([WEB])
    await one.requests.step()
    await one.hour(3 * DAY)
    found = one.requests.of(WEB)
    assert found is not None
    assert found.millis is None
    one.requests.fill(BEGIN, {WEB: one.cores})
    await one.requests.step()
    assert one.requests.of(WEB) == request_alone(points_of(BEGIN, one.cores[: WEEK + 3 * DAY]))
