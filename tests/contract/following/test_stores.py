"""What a store of live policies promises: the one of fast tests, and the database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.following.ports import RememberedPolicies
from nemutator_controller.following.sql import SqlLivePolicies

from tests.fakes.databases import opened
from tests.fakes.followed_pods import MemoryLivePolicies


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RememberedPolicies]:
    if request.param == "memory":
        yield MemoryLivePolicies()
        return
    with opened(tmp_path / "x.db") as database:
        yield SqlLivePolicies(database)


async def test_names_are_remembered_until_others_take_their_place(
    store: RememberedPolicies,
) -> None:
    assert await store.all() == {}
    await store.replace({"team": 1.5, "color": 2.0})
    await store.replace({"team": 1.5, "owner": 3.0})
    assert await store.all() == {"team": 1.5, "owner": 3.0}
    await store.replace({})
    assert await store.all() == {}
