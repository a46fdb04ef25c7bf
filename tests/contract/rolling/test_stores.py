"""What a store of rolls promises: the one of fast tests, and the database."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_controller.rolling.ports import RollStore
from nemutator_controller.rolling.sql import SqlRolls

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.rolls import USUAL, WEB, MemoryRolls, roll


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RollStore]:
    if request.param == "memory":
        yield MemoryRolls()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlRolls(database)


async def test_a_roll_comes_back_as_it_went_in_and_is_replaced_by_its_next_state(
    store: RollStore,
) -> None:
    first = roll(strategy=(USUAL,))
    await store.save(first)
    assert await store.roll("r1") == first
    await store.save(first.then("stopped", why="not ready"))
    assert await store.roll("r1") == first.then("stopped", why="not ready")
    assert await store.roll("r2") is None
    assert await store.count() == 1


async def test_what_is_not_finished_is_found_again_oldest_first(store: RollStore) -> None:
    for one in (roll("c", at=3), roll("a", at=1).then("rolling"), roll("b", at=2).then("done")):
        await store.save(one)
    assert [each.id for each in await store.unfinished()] == ["a", "c"]


async def test_lists_are_newest_first_and_of_one_namespace_alone(store: RollStore) -> None:
    await store.save(roll("a", at=1))
    await store.save(roll("b", at=2, workload=replace(WEB, namespace="bank")))
    assert [each.id for each in await store.rolls(namespace=None, limit=9)] == ["b", "a"]
    assert [each.id for each in await store.rolls(namespace=None, limit=1)] == ["b"]
    assert [each.id for each in await store.rolls(namespace="shop", limit=9)] == ["a"]


async def test_what_is_not_finished_is_not_dropped(store: RollStore) -> None:
    for one in (roll("a", at=1), roll("b", at=2).then("done"), roll("c", at=3).then("failed")):
        await store.save(one)
    assert await store.drop_before(3, most=9) == 1
    assert await store.drop_oldest(most=9) == 1
    assert [each.id for each in await store.rolls(namespace=None, limit=9)] == ["a"]
