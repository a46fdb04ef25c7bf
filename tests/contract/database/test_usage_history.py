"""History in memory, in SQLite and in the real PostgreSQL: one suite."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from nemutator_controller.database.schema import history_slices
from nemutator_controller.history.ports import UsageHistoryStore
from nemutator_controller.history.slices import PART, Matrix, SavedRow, Slice, SliceName
from nemutator_controller.history.sql import SqlUsageHistory
from nemutator_controller.sizing.keys import ContainerKey
from sqlalchemy import update

from tests.contract.store_kinds import KINDS, opened_for
from tests.controller.history.points import key
from tests.fakes.databases import opened
from tests.fakes.usage_history import MemoryUsageHistory


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UsageHistoryStore]:
    if request.param == "memory":
        yield MemoryUsageHistory()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlUsageHistory(database, ContainerKey)


def cell(value: float, *, cell: int = 1, part: int = 0, saved: int = 1) -> Slice:
    arrays: dict[str, Matrix] = {
        "time": np.full(3, value, dtype=np.float32),
        "cpu_cores.most": np.ones(3, np.uint16),
    }
    return Slice(SliceName("minutes", part, cell), 121, saved, arrays)


async def values(store: UsageHistoryStore, part: int = 0) -> dict[int, float]:
    return {
        one.name.cell: float(one.arrays["time"].view(np.float32)[0])
        for one in await store.slices("minutes", part)
    }


async def test_what_was_saved_comes_back(store: UsageHistoryStore) -> None:
    row = SavedRow(7, key("a"), 3)
    await store.save([row], [], [cell(1.5)])
    assert await store.rows() == [row]
    (back,) = await store.slices("minutes", 0)
    assert (back.name, back.moment, back.saved) == (SliceName("minutes", 0, 1), 121, 1)
    assert {name: array.tolist() for name, array in back.arrays.items()} == {
        "time": [1.5, 1.5, 1.5],
        "cpu_cores.most": [1, 1, 1],
    }
    assert await store.slices("days", 0) == []


async def test_a_later_state_takes_the_place_of_an_earlier_one(store: UsageHistoryStore) -> None:
    await store.save(
        [SavedRow(0, key("a"), 1), SavedRow(1, key("b"), 1)], [], [cell(1), cell(2, cell=2)]
    )
    await store.save([SavedRow(0, key("c"), 2)], [1, 9], [cell(3)])
    assert await store.rows() == [SavedRow(0, key("c"), 2)]
    assert await values(store) == {1: 3.0, 2: 2.0}


async def test_rows_beyond_the_limit_are_removed(store: UsageHistoryStore) -> None:
    rows = [SavedRow(number, key(str(number)), 1) for number in (0, PART - 1, PART)]
    await store.save(rows, [], [cell(1), cell(2, part=1)])
    await store.drop_beyond(PART - 1)
    assert [one.number for one in await store.rows()] == [0]
    assert (await values(store), await values(store, 1)) == ({1: 1.0}, {})


async def test_a_slice_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        store = SqlUsageHistory(database, ContainerKey)
        await store.save([], [], [cell(1), cell(2, cell=2)])
        broken = update(history_slices).where(history_slices.c.cell == 1).values(packed=b"rust")
        await database.write(lambda connection: connection.execute(broken).rowcount)
        assert await values(store) == {2: 2.0}
