"""What the stores of seasons promise: those of fast tests, and the databases."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.ports import SavedDays, StartTimeStore, SwitchStore
from nemutator_controller.seasons.records import PolicySwitch
from nemutator_controller.seasons.sql import SqlSeasonDays, SqlSeasonSwitches, SqlStartTimes
from nemutator_controller.seasons.start_times import SavedStarts

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.seasons import MemorySeasonDays, MemoryStartTimes, MemorySwitches

WEB: Scope = ("shop", "Deployment", "web")
Stores = tuple[SavedDays, SwitchStore, StartTimeStore]


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param == "memory":
        yield MemorySeasonDays(), MemorySwitches(), MemoryStartTimes()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlSeasonDays(database), SqlSeasonSwitches(database), SqlStartTimes(database)


def day(number: int, level: float, scope: Scope = WEB) -> SavedDay:
    return SavedDay(scope, number, np.full(96, level, dtype=np.float16))


async def test_days_are_kept_by_their_length_and_replaced(stores: Stores) -> None:
    days, *_ = stores
    await days.save([], day_s=86_400.0)
    await days.save([day(number, 1.0) for number in (8, 9)], day_s=86_400.0)
    await days.save([day(9, 2.0), day(9, 3.0, ("", "", ""))], day_s=86_400.0)
    found = await days.load(day_s=86_400.0)

    assert {(one.scope, one.day): float(one.use[0]) for one in found} == {
        (WEB, 8): 1.0,
        (WEB, 9): 2.0,
        (("", "", ""), 9): 3.0,
    }
    assert await days.load(day_s=600.0) == []


async def test_old_days_and_those_of_another_length_are_dropped(stores: Stores) -> None:
    days, *_ = stores
    await days.save([day(7, 1.0), day(9, 1.0)], day_s=86_400.0)
    await days.save([day(9, 1.0)], day_s=600.0)

    assert await days.drop(before=8, day_s=86_400.0) == 2
    assert [one.day for one in await days.load(day_s=86_400.0)] == [9]


async def test_more_days_than_one_transaction_takes(stores: Stores) -> None:
    days, *_ = stores
    many = [day(9, 1.0, ("jobs", "Job", str(number))) for number in range(1_200)]
    await days.save(many, day_s=86_400.0)

    assert len(await days.load(day_s=86_400.0)) == 1_200


async def test_switches_are_replaced_as_a_whole(stores: Stores) -> None:
    _, switches, _ = stores
    one = PolicySwitch(
        kind="MutationPolicy", name="busy", in_force=True, since=1.5, why="so", decision="d1"
    )
    other = PolicySwitch(
        kind="SeasonPolicy", name="busy", in_force=False, since=2.5, why="no", held=True
    )
    await switches.replace([one, other])
    assert sorted(await switches.all(), key=lambda each: each.key) == [one, other]
    await switches.replace([])
    assert await switches.all() == []


async def test_start_times_are_replaced_by_workload_and_forgotten(stores: Stores) -> None:
    *_, starts = stores
    job: Scope = ("jobs", "Job", "once")
    await starts.save([SavedStarts(WEB, [1.5, 2.0]), SavedStarts(job, [30.0])], [])
    await starts.save([SavedStarts(WEB, [2.0, 4.25])], [job, ("jobs", "Job", "never seen")])
    assert [(one.scope, list(one.seconds)) for one in await starts.load()] == [(WEB, [2.0, 4.25])]
    await starts.save([], [])
    assert len(await starts.load()) == 1


async def test_days_are_read_from_one_on(stores: Stores) -> None:
    days, *_ = stores
    await days.save([day(number, float(number)) for number in (7, 8, 9)], day_s=86_400.0)
    found = await days.load(day_s=86_400.0, since=8)
    assert [one.day for one in found] == [8, 9]
