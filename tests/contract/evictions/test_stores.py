"""What a store of evictions promises: the one of fast tests, and the database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.evictions.ports import EvictionStore
from nemutator_controller.evictions.records import EvictionState, RequestedEviction
from nemutator_controller.evictions.sql import SqlEvictions

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.evictions import MemoryEvictions, evictable, eviction_request


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EvictionStore]:
    if request.param == "memory":
        yield MemoryEvictions()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlEvictions(database)


def eviction(
    name: str,
    request: str = "r1",
    state: EvictionState = "queued",
    *,
    at: float = 0,
    space: str = "shop",
) -> RequestedEviction:
    return RequestedEviction(
        request=request, pod=evictable(name, namespace=space), state=state, at=at
    )


async def states(store: EvictionStore, request: str = "r1") -> dict[str, str]:
    found = await store.request(request, namespace=None)
    assert found is not None
    return {each.pod.name: each.state for each in found[1]}


async def test_a_request_and_its_pods_come_back_as_they_went_in(store: EvictionStore) -> None:
    request = eviction_request()
    await store.add(request, [eviction("a"), eviction("b")])
    found = await store.request("r1", namespace=None)
    assert found is not None
    assert found[0] == request
    assert [each.pod for each in found[1]] == [evictable("a"), evictable("b")]
    assert await store.request("r2", namespace=None) is None


async def test_only_the_states_that_are_saved_change(store: EvictionStore) -> None:
    first = eviction("a")
    await store.add(eviction_request(), [first, eviction("b")])
    await store.save([first.then("waits", at=5, why="a budget")])
    assert await states(store) == {"a": "waits", "b": "queued"}
    found = await store.request("r1", namespace=None)
    assert found is not None
    assert found[1][0].why == "a budget"


async def test_what_is_not_finished_is_found_again(store: EvictionStore) -> None:
    await store.add(eviction_request("new", at=2), [eviction("a", "new")])
    await store.add(
        eviction_request("old", at=1),
        [eviction("b", "old", "evicting"), eviction("c", "old", "evicted")],
    )
    await store.add(eviction_request("done", at=3), [eviction("d", "done", "gone")])
    found = await store.unfinished()
    assert [(request.id, [each.pod.name for each in rows]) for request, rows in found] == [
        ("old", ["b"]),
        ("new", ["a"]),
    ]


async def test_what_was_evicted_lately_is_known(store: EvictionStore) -> None:
    rows = [eviction(name, state="evicted", at=at) for name, at in (("a", 9), ("b", 5), ("c", 7))]
    await store.add(eviction_request(), [*rows, eviction("d", state="gone", at=9)])
    assert [each.pod.name for each in await store.evicted_since(6)] == ["c", "a"]


async def test_lists_are_newest_first_and_of_one_namespace_alone(store: EvictionStore) -> None:
    await store.add(
        eviction_request("r1", at=1),
        [eviction("a"), eviction("b"), eviction("c", state="evicted", space="bank")],
    )
    await store.add(eviction_request("r2", at=2), [eviction("d", "r2", space="bank")])
    everywhere = await store.requests(namespace=None, limit=9)
    assert [(each.id, counts) for each, counts in everywhere] == [
        ("r2", {"queued": 1}),
        ("r1", {"queued": 2, "evicted": 1}),
    ]
    assert [each.id for each, _ in await store.requests(namespace=None, limit=1)] == ["r2"]
    shop = await store.requests(namespace="shop", limit=9)
    assert [(each.id, counts) for each, counts in shop] == [("r1", {"queued": 2})]
    found = await store.request("r1", namespace="bank")
    assert found is not None
    assert [each.pod.name for each in found[1]] == ["c"]
    assert await store.request("r2", namespace="shop") is None


async def test_what_goes_on_is_not_dropped(store: EvictionStore) -> None:
    await store.add(eviction_request("r1", at=1), [eviction("a")])
    await store.add(eviction_request("r2", at=2), [eviction("b", "r2", "evicted")])
    await store.add(eviction_request("r3", at=3), [eviction("c", "r3", "gone")])
    assert await store.count() == 3
    assert await store.drop_before(3, most=9) == 1
    assert await store.request("r2", namespace=None) is None
    assert await store.drop_oldest(most=9) == 1
    assert await states(store) == {"a": "queued"}
    assert await store.count() == 1
