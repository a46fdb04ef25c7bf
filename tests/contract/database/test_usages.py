"""Histograms in memory and in SQLite: one suite."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.database.schema import histograms
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.ports import UsageStore
from nemutator_controller.sizing.sql import SqlUsages
from nemutator_controller.sizing.usages import Usages
from sqlalchemy import update

from tests.contract.store_kinds import KINDS, opened_for
from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.databases import opened
from tests.fakes.sizing import MemoryUsages, learn


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UsageStore]:
    if request.param == "memory":
        yield MemoryUsages()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlUsages(database)


def learned(*owners: str, times: int = 1) -> Usages:
    usages = Usages(most=100)
    for n in range(times):
        learn(usages, [(key(owner), summary(NOW + 15 * n)) for owner in owners], now=NOW + n)
    return usages


def kept(*owners: str, times: int = 1) -> dict[ContainerKey, SavedUsage]:
    return learned(*owners, times=times).kept([key(owner) for owner in owners])


async def test_what_was_learned_comes_back(store: UsageStore) -> None:
    usages = learned("a", "b", times=5)
    await store.save(usages.kept(usages.keys()), [])
    back = Usages(most=100)
    back.restore(await store.load())
    assert back.seen(back.keys(), now=NOW) == usages.seen(usages.keys(), now=NOW)


async def test_a_later_state_takes_the_place_of_an_earlier_one(store: UsageStore) -> None:
    await store.save(kept("a", "b"), [])
    await store.save(kept("a", times=3), [key("b"), key("never there")])
    found = await store.load()
    assert {at.owner: one.points for at, one in found.items()} == {"a": 3}


async def test_a_save_may_have_nothing_to_keep(store: UsageStore) -> None:
    await store.save({}, [])
    await store.save(kept("a", "b"), [])
    await store.save({}, [key("b")])
    assert {at.owner for at in await store.load()} == {"a"}


async def test_a_row_that_cannot_be_read_is_learned_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        store = SqlUsages(database)
        await store.save(kept("a", "b"), [])
        broken = update(histograms).where(histograms.c.owner == "a").values(packed=b"rust")
        await database.write(lambda connection: connection.execute(broken).rowcount)
        assert [at.owner for at in await store.load()] == ["b"]
