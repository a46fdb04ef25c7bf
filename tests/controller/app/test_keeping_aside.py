"""What is known of evictions that were asked for before, to keep aggressors aside."""

from dataclasses import replace

from nemutator_controller.app.keeping_aside import asked_before
from nemutator_controller.evictions.records import EvictionState, RequestedEviction
from nemutator_controller.neighbours.aside_keeping import REASON
from nemutator_controller.neighbours.model import AskedAside, NeighbourWorkload

from tests.fakes.evictions import MemoryEvictions, evictable, eviction_request

OURS = REASON.format("day", "shop/web-1 waits")


def eviction(request: str, state: EvictionState) -> RequestedEviction:
    return RequestedEviction(request=request, pod=evictable(request), state=state, at=9)


async def test_only_what_was_asked_for_by_a_policy_of_aggressors_and_happened_counts() -> None:
    store = MemoryEvictions()
    requests: tuple[tuple[str, float, str, str, EvictionState], ...] = (
        ("late", 5, "nemutator", OURS, "evicted"),
        ("open", 6, "nemutator", OURS, "waits"),
        ("early", 1, "nemutator", OURS, "evicted"),
        ("expired", 5, "nemutator", OURS, "expired"),
        ("of-a-person", 5, "ada", OURS, "evicted"),
        ("packs", 5, "nemutator", "SeasonPolicy night packs", "evicted"),
    )
    for name, at, by, reason, state in requests:
        request = replace(eviction_request(name, at=at), by=by, reason=reason)
        await store.add(request, [eviction(name, state)])
    owner = evictable("late").workload
    assert owner is not None
    workload = NeighbourWorkload(owner.namespace, owner.kind, owner.name)
    assert await asked_before(store, 2) == [
        AskedAside(
            workload=workload, uid=evictable(name).uid, request=name, at=at, is_open=name == "open"
        )
        for name, at in (("late", 5), ("open", 6))
    ]
