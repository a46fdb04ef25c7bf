"""Profiles in memory, in databases, and with their contents in a store of objects: one suite."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_controller.database.schema import profiles
from nemutator_controller.profiles.ports import ProfileStore
from nemutator_controller.profiles.records import ProfileRecord, State
from nemutator_controller.profiles.separating import SeparatedProfiles
from nemutator_controller.profiles.sql import SqlProfiles
from sqlalchemy import update

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.databases import opened
from tests.fakes.objects import MemoryObjects
from tests.fakes.profiles import NOW, POD, MemoryProfiles, profile


@pytest.fixture(params=[*KINDS, "objects"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ProfileStore]:
    if request.param == "memory":
        yield MemoryProfiles()
        return
    if request.param == "objects":
        with opened(tmp_path / "x.db") as database:
            yield SeparatedProfiles(SqlProfiles(database), MemoryObjects())
        return
    with opened_for(request, tmp_path) as database:
        yield SqlProfiles(database)


def aged(number: int, state: State = "done", *, bytes_: int = 0) -> ProfileRecord:
    return replace(profile(number, at=NOW + number), state=state, bytes=bytes_)


async def test_a_profile_comes_back_as_it_was(store: ProfileStore) -> None:
    kept = replace(profile(), pod=POD, lost={"full": 2}, notes=("one",), cpu_seconds=0.5)
    await store.save(kept)
    assert await store.find(kept.id) == kept
    assert await store.find("0" * 16) is None
    assert await store.pprof(kept.id) is None


async def test_a_later_state_replaces_an_earlier_one_and_keeps_the_profile(
    store: ProfileStore,
) -> None:
    await store.save(profile())
    await store.save(replace(profile(), state="done", bytes=3), b"abc")
    await store.save(replace(profile(), state="done", bytes=3, reason="again"))
    found = await store.find(profile().id)
    assert found is not None
    assert (found.state, found.reason) == ("done", "again")
    assert await store.pprof(profile().id) == b"abc"


async def test_the_newest_come_first_and_the_open_ones_are_known(store: ProfileStore) -> None:
    for number, state in enumerate(("done", "asked", "lost", "running", "refused")):
        await store.save(aged(number, state))  # type: ignore[arg-type]
    assert [int(one.id, 16) for one in await store.newest(3)] == [4, 3, 2]
    assert [int(one.id, 16) for one in await store.unfinished()] == [1, 3]


async def test_the_oldest_finished_ones_make_room(store: ProfileStore) -> None:
    await store.save(aged(0, "running"))
    for number in range(1, 6):
        await store.save(aged(number, bytes_=10), b"0123456789")
    assert await store.prune(most=5, most_bytes=50) == (0, 0)
    assert await store.prune(most=4, most_bytes=25) == (1, 2)
    assert [int(one.id, 16) for one in await store.newest(9)] == [5, 4, 0]
    assert await store.pprof(aged(1).id) is None


async def test_one_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        store = SqlProfiles(database)
        await store.save(aged(1))
        await store.save(aged(2))
        broken = update(profiles).where(profiles.c.id == aged(1).id).values(document=b"{}")
        await database.write(lambda connection: connection.execute(broken).rowcount)
        assert await store.newest(9) == [aged(2)]
        assert await store.find(aged(1).id) is None
