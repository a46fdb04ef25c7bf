"""The API of slow rolls over HTTP, behind the gate of a cluster's console."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import ClientSession
from nemutator_controller.rolling.endpoint import ROLLS_PATH, NoRollsApi, RollsApi
from nemutator_controller.rolling.records import WorkloadUnreachableError
from nemutator_controller.rolling.rolling import SlowRolls

from tests.contract.gated_apis import served
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews
from tests.fakes.rolls import MemoryOffPeaks, MemoryRollRights, MemoryRolls, MemoryWorkloads

WEB = {"workload": "deployment/web", "namespace": "shop", "reason": "new node"}


class Shop:
    def __init__(self) -> None:
        self.workloads, self.store = MemoryWorkloads(), MemoryRolls()
        self.rights = MemoryRollRights("shop")
        self.process = fake_process(clock=ManualClock())
        self.rolls = SlowRolls(self.workloads, self.store, self.process, MemoryOffPeaks())
        self.reviews = MemoryReviews()
        self.reviews.knows("anna-token", "anna")
        for verb in ("get", "create", "update"):
            self.reviews.allowed.add(("anna", verb, "rolls", ""))

    @contextlib.asynccontextmanager
    async def standing(self, api: NoRollsApi | None = None) -> AsyncIterator[ClientSession]:
        ids = iter(f"r{number}" for number in range(100))
        ours = RollsApi(
            self.rolls, self.store, self.workloads, self.rights, lambda: next(ids), self.process
        )
        routes = (api or ours).routes()
        async with served(routes, self.reviews, self.process) as client:
            yield client


async def post(client: ClientSession, path: str = "", **body: Any) -> tuple[int, Any]:
    async with client.post(ROLLS_PATH + path, json=body) as answer:
        return answer.status, await answer.json()


async def get(client: ClientSession, path: str = "") -> tuple[int, Any]:
    async with client.get(ROLLS_PATH + path) as answer:
        return answer.status, await answer.json()


async def test_a_roll_is_planned_asked_for_once_shown_and_ended() -> None:
    shop = Shop()
    async with shop.standing() as client:
        status, planned = await post(client, **WEB, planOnly=True)
        assert (status, planned["replicas"], shop.store.kept) == (200, 2, {})
        status, made = await post(client, **WEB)
        assert (status, made["id"], made["by"], made["state"]) == (202, "r0", "anna", "waiting")
        status, refused = await post(client, **WEB)
        assert (status, refused["error"]) == (409, "a roll of it is not finished yet")
        assert (await get(client, "/r0"))[1]["workload"] == "Deployment shop/web"
        assert [each["id"] for each in (await get(client))[1]["items"]] == ["r0"]
        assert (await get(client, "?namespace=bank"))[1]["items"] == []
        assert (await get(client, "/r0?namespace=bank"))[0] == 404
        assert (await get(client, "/r9"))[0] == 404
        status, ended = await post(client, "/r0/stop")
        assert (status, ended["state"], ended["why"]) == (200, "stopped", "anna ended it")


async def test_nobody_rolls_by_us_what_they_may_not_patch_themselves() -> None:
    shop = Shop()
    async with shop.standing() as client:
        assert (await post(client, **WEB))[0] == 202
        shop.rights.namespaces.clear()
        for status, refused in (
            await post(client, **WEB, planOnly=True),
            await post(client, **WEB),
            await post(client, "/r0/stop"),
        ):
            assert (status, refused["error"]) == (403, "anna may not patch Deployment shop/web")
        assert (await post(client, "?namespace=bank", **WEB))[0] == 400


async def test_what_cannot_be_rolled_is_refused_with_its_reason() -> None:
    shop = Shop()
    async with shop.standing() as client:
        assert (await post(client, **WEB | {"workload": "job/x"}))[0] == 400
        shop.workloads.spec["paused"] = True
        status, refused = await post(client, **WEB)
        assert (status, "it is paused" in refused["error"]) == (409, True)
        shop.workloads.failure = WorkloadUnreachableError("no answer")
        assert (await post(client, **WEB))[0] == 503
        shop.workloads.failure, shop.workloads.document = None, None
        assert (await post(client, **WEB))[0] == 404
        assert (await get(client, "?limit=0"))[0] == 400
    assert shop.store.kept == {}


async def test_a_roll_that_waits_for_a_workload_that_is_gone_can_be_ended() -> None:
    shop = Shop()
    async with shop.standing() as client:
        assert (await post(client, **WEB))[0] == 202
        shop.workloads.become_another("u2")
        status, ended = await post(client, "/r0/stop")
        assert (status, ended["state"]) == (200, "failed")
        assert (await post(client, **WEB))[0] == 202


async def test_off_clusters_there_is_nothing_to_roll() -> None:
    async with Shop().standing(NoRollsApi()) as client:
        for status, refused in (await post(client, **WEB), await get(client)):
            assert (status, "in no cluster" in refused["error"]) == (409, True)
