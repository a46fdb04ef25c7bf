"""What a store of weeks of grades promises: that of fast tests, and the databases."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nemutator_controller.neighbours.model import NeighbourRole, NeighbourWorkload
from nemutator_controller.neighbours.ports import WeekStore
from nemutator_controller.neighbours.sql import SqlNeighbourWeeks
from nemutator_controller.neighbours.week_grades import SavedWeek

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.neighbour_weeks import MemoryNeighbourWeeks

WEB = NeighbourWorkload("shop", "Deployment", "web")
ALONE = NeighbourWorkload("shop", "Pod", "uid-1")


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WeekStore]:
    if request.param == "memory":
        yield MemoryNeighbourWeeks()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlNeighbourWeeks(database)


def week(
    subject: NeighbourWorkload | str, times: int, role: NeighbourRole = NeighbourRole.VICTIM
) -> SavedWeek:
    return SavedWeek(role, subject, 20_000, np.full((7, 5), times, dtype=np.uint16))


async def times_in(store: WeekStore) -> dict[tuple[NeighbourRole, object], tuple[int, int]]:
    return {(one.role, one.subject): (one.day, int(one.counts.sum())) for one in await store.load()}


async def test_pods_and_workloads_come_back_by_role(store: WeekStore) -> None:
    assert await store.load() == []
    await store.replace(
        [
            week("uid-1", 1),
            week("uid-1", 2, NeighbourRole.AGGRESSOR),
            week(ALONE, 3),
            week(WEB, 65_535),
        ]
    )
    assert await times_in(store) == {
        (NeighbourRole.VICTIM, "uid-1"): (20_000, 35),
        (NeighbourRole.AGGRESSOR, "uid-1"): (20_000, 70),
        (NeighbourRole.VICTIM, ALONE): (20_000, 105),
        (NeighbourRole.VICTIM, WEB): (20_000, 35 * 65_535),
    }


async def test_what_is_saved_takes_the_place_of_all_before(store: WeekStore) -> None:
    await store.replace([week("gone", 1), week(WEB, 1)])
    await store.replace([week(WEB, 2)])
    assert await times_in(store) == {(NeighbourRole.VICTIM, WEB): (20_000, 70)}
    await store.replace([])
    assert await store.load() == []


async def test_more_than_one_transaction_takes(store: WeekStore) -> None:
    for _ in range(2):
        await store.replace([week(f"uid-{number}", 1) for number in range(1_100)])
    assert len(await store.load()) == 1_100
