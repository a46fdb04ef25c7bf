"""Hourly requests from the brain's own history, and what their store promises: that of fast tests, and the databases."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nemutator_controller.app.hourly import ComputedInThread, HourlyOfContainers
from nemutator_controller.database.schema import hourly_points
from nemutator_controller.history.hours_of_use import HoursOfUse
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.sizing.hourly.points import HourlyPoints, KeptHours, points_of
from nemutator_controller.sizing.hourly.ports import HourlyStore
from nemutator_controller.sizing.hourly.sql import SqlHourlyPoints
from nemutator_controller.sizing.hourly.stepping import LATE_S, STEP, HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey
from sqlalchemy import update

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.hourly import MemoryHourlyStore, hours_of_use
from tests.fakes.process import fake_process

WEB = ContainerKey("shop", "Deployment", "web", "app")
BEGIN = 472_000
HOUR_S = 3_600


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HourlyStore]:
    if request.param == "memory":
        yield MemoryHourlyStore()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlHourlyPoints(database)


def same(found: HourlyPoints, wanted: HourlyPoints) -> bool:
    return found.begin == wanted.begin and np.array_equal(found.codes, wanted.codes)


async def test_points_are_replaced_and_removed_by_container(store: HourlyStore) -> None:
    points = points_of(BEGIN, hours_of_use(30))
    await store.save({}, [])
    many = {
        ContainerKey("shop", "Deployment", f"w{number}", "app"): KeptHours(points, 1.0)
        for number in range(STEP)
    }
    await store.save({**many, WEB: KeptHours(points, 1.0)}, [])
    longer = points.with_hours(points.end, hours_of_use(2))
    await store.save({WEB: KeptHours(longer, 2.5)}, list(many)[1:])
    found = await store.load()
    assert set(found) == {WEB, next(iter(many))}
    assert found[WEB].wanted_at == 2.5
    assert same(found[WEB].points, longer)
    await store.save({}, list(found))
    assert await store.load() == {}


async def test_a_row_that_cannot_be_read_is_begun_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        store = SqlHourlyPoints(database)
        await store.save({WEB: KeptHours(points_of(BEGIN, hours_of_use(3)), 1.0)}, [])
        await database.write(lambda one: one.execute(update(hourly_points).values(packed=b"x")))
        assert await store.load() == {}


def reported(
    usage: UsageHistory, begin_s: float, cores: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    """Each number is what two pods used in five minutes: one of them that, and the other half of it."""
    series = [Series(f"/{pod}", pod, None, None) for pod in ("a", "b")]
    of = np.repeat(np.array([0, 1], dtype=np.int32), 5)
    minutes = np.tile(np.arange(5) * 60.0, 2)
    for number, used in enumerate(cores.tolist()):
        at = begin_s + 300 * number
        columns = {"cpu_cores": np.repeat([used, used / 2], 5)}
        points = UsagePoints(series, of, at + minutes, at + minutes + 60, columns)
        usage.learn("n1", points, now=at + 301)
        for _ in usage.settle(now=at + 301):
            pass


async def test_hours_that_were_reported_go_on_behind_those_that_are_saved() -> None:
    week = hours_of_use(170)
    clock = ManualClock((BEGIN + 170) * HOUR_S + LATE_S)
    usage = UsageHistory(lambda _, __: WEB, most=10)
    reported(usage, (BEGIN + 165) * HOUR_S, week[165:].reshape(-1))
    store = MemoryHourlyStore()
    store.rows[WEB] = KeptHours(points_of(BEGIN, week[:165]), clock.now())
    requests = HourlyRequests(
        HoursOfUse(usage), store, ComputedInThread(), fake_process(clock=clock)
    )
    hourly = HourlyOfContainers(requests)
    await requests.restore()
    hourly.want([(("shop", "Deployment", "web"), "app")])
    await requests.step()

    # Some of it comes from minutes and some from cells of five: the busier of both pods counts in each.
    np.testing.assert_allclose(store.rows[WEB].points.cores(), week, rtol=3e-3)
    amount = hourly.of(("shop", "Deployment", "web"), "app")
    assert amount is not None
    assert amount.target is not None
    assert amount.strategy == "nemutator-hourly"
    assert hourly.of(("shop", "Deployment", "other"), "app") is None
