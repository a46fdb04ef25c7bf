"""What a store of digests promises: the one of fast tests, and the database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.images.ports import KeptDigests
from nemutator_controller.images.sql import SqlDigests

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.registries import MemoryDigests


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeptDigests]:
    if request.param == "memory":
        yield MemoryDigests()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlDigests(database)


async def test_a_digest_is_kept_until_another_one_comes_or_it_is_forgotten(
    store: KeptDigests,
) -> None:
    assert await store.all() == {}
    await store.keep({"a:1": "d1", "b:1": "d2"})
    await store.keep({"a:1": "d3", "b:1": None, "never:1": None})
    assert await store.all() == {"a:1": "d3"}
