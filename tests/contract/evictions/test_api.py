"""The API of evictions over HTTP, behind the gate of a cluster's console."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import ClientSession
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.evictions.endpoint import EVICTIONS_PATH, EvictionsApi, NoClusterApi
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace

from tests.contract.gated_apis import served
from tests.fakes.clocks import ManualClock
from tests.fakes.evictions import MemoryEvictionRights, MemoryEvictions, MemoryPods, evictable
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

WEB = {"selector": "app=web", "reason": "new kernel"}


class House:
    def __init__(self) -> None:
        self.pods = MemoryPods(
            evictable("web-1"),
            evictable("web-2"),
            evictable("job", None),
            evictable("pay-1", "pay", namespace="bank"),
        )
        self.store, self.rights = MemoryEvictions(), MemoryEvictionRights("shop")
        self.process = fake_process(clock=ManualClock())
        budgets = EvictionBudgets(per_minute=9, node_per_minute=9, workload_at_once=1)
        self.queue = EvictionQueue(
            self.pods, self.store, self.pods, EvictionPace(budgets), self.process
        )
        self.reviews = MemoryReviews()
        self.reviews.knows("anna-token", "anna")
        for verb in ("get", "create", "update"):
            self.reviews.allowed.add(("anna", verb, "evictions", ""))

    @contextlib.asynccontextmanager
    async def standing(self) -> AsyncIterator[ClientSession]:
        ids = iter(f"r{number}" for number in range(100))
        api = EvictionsApi(
            self.queue, self.store, self.pods, self.rights, lambda: next(ids), self.process
        )
        async with served(api.routes(), self.reviews, self.process) as client:
            yield client


async def post(client: ClientSession, path: str = "", **body: Any) -> tuple[int, Any]:
    async with client.post(EVICTIONS_PATH + path, json=body) as answer:
        return answer.status, await answer.json()


async def get(client: ClientSession, path: str = "") -> tuple[int, Any]:
    async with client.get(EVICTIONS_PATH + path) as answer:
        return answer.status, await answer.json()


async def test_a_plan_changes_nothing_and_a_request_is_queued_for_whoever_asked() -> None:
    house = House()
    async with house.standing() as client:
        status, planned = await post(client, **WEB, planOnly=True)
        assert (status, planned["kind"], house.store.asked) == (200, "EvictionPlan", {})
        status, made = await post(client, **WEB, plan=planned["id"])
        assert (status, made["by"], made["counts"]) == (202, "anna", {"queued": 2})
        assert house.queue.uids == {"u-web-1", "u-web-2"}
        assert (await get(client, "/r0"))[1]["pods"][0]["state"] == "queued"
        assert [each["id"] for each in (await get(client))[1]["items"]] == ["r0"]
        assert (await get(client, "/r9"))[0] == 404
        status, again = await post(client, **WEB)
        assert (status, "an earlier request has it" in again["error"]) == (404, True)
        status, cancelled = await post(client, "/r0/cancel")
        assert (status, cancelled["counts"]) == (200, {"cancelled": 2})
        assert (await post(client, "/r9/cancel"))[0] == 404


async def test_nobody_evicts_by_us_what_they_may_not_evict_themselves() -> None:
    house = House()
    async with house.standing() as client:
        for wanted in ({"namespace": "bank"}, {"pods": ["bank/pay-1"]}, {"pods": ["bank/no"]}):
            status, refused = await post(client, **wanted, reason="x", planOnly=True)
            assert status == 403, wanted
            assert refused["error"] == "anna may not create pods/eviction in namespace bank"
        house.reviews.allowed.discard(("anna", "create", "evictions", ""))
    house.reviews.allowed.add(("anna", "create", "evictions", "shop"))
    async with house.standing() as client:
        assert (await post(client, **WEB))[0] == 403
        status, made = await post(client, "?namespace=shop", **WEB)
        assert (status, made["counts"]) == (202, {"queued": 2})
        status, _ = await post(client, "?namespace=shop", **WEB | {"namespace": "bank"})
        assert status == 400
    assert house.queue.uids == {"u-web-1", "u-web-2"}


async def test_permissions_that_cannot_be_known_are_not_there() -> None:
    house = House()

    class Away(MemoryEvictionRights):
        async def forbidden(self, *_: object) -> list[str]:
            raise UnknownNowError("no answer in time")

    house.rights = Away()
    async with house.standing() as client:
        status, refused = await post(client, **WEB)
    assert (status, "cannot be known now" in refused["error"]) == (503, True)
    assert house.store.asked == {}


async def test_every_pod_there_is_needs_all_and_the_plan_that_was_looked_at() -> None:
    house = House()
    house.rights = MemoryEvictionRights("shop", "bank")
    every = {"selector": "app", "reason": "x"}
    async with house.standing() as client:
        _, planned = await post(client, **every, planOnly=True)
        assert planned["takesAll"]
        for asked in ({}, {"all": True}, {"plan": planned["id"]}):
            status, refused = await post(client, **every, **asked)
            assert (status, "every pod that can be evicted, 3" in refused["error"]) == (409, True)
        status, refused = await post(client, **every, all=True, plan="another")
        assert (status, "another one by now" in refused["error"]) == (409, True)
        status, made = await post(client, **every, all=True, plan=planned["id"])
        assert (status, made["counts"]) == (202, {"queued": 3})


async def test_what_cannot_be_done_is_refused_with_its_reason() -> None:
    house = House()
    async with house.standing() as client:
        for body, status, why in (
            ({"selector": "=", "reason": "x"}, 400, "selector"),
            ({"reason": "x"}, 400, "expected pods"),
            ({"pods": ["shop/job"], "reason": "x"}, 404, "nobody would make another one"),
            ({"selector": "app=none", "reason": "x"}, 404, "there is no such pod"),
        ):
            answered, refused = await post(client, **body)
            assert (answered, why in refused["error"]) == (status, True), refused
        async with client.post(EVICTIONS_PATH, data=b"\xff\xfe") as answer:
            assert answer.status == 400
        house.store.is_away = True
        assert (await post(client, **WEB))[0] in (503, 507)
        house.pods.pods = None
        assert (await post(client, **WEB))[0] == 503
        assert (await get(client, "?limit=0"))[0] == 400


async def test_off_clusters_there_is_nothing_to_evict() -> None:
    house = House()
    async with served(NoClusterApi().routes(), house.reviews, house.process) as client:
        for status, refused in (await post(client, **WEB), await get(client)):
            assert (status, "in no cluster" in refused["error"]) == (409, True)
