"""What people see of oversell over HTTP, and what the webhook's path answers."""

import json
from typing import Any

import msgspec
from nemutator_common.process import Process
from nemutator_controller.oversell.endpoint import ALONE, PATH, OversellApi
from nemutator_ctl.oversell.view import decode, overview

from tests.contract.gated_apis import served
from tests.controller.oversell.test_keeping import PREVIEW, Oversold
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


async def asked(api: OversellApi, process: Process, *, may: bool = True) -> tuple[int, Any]:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "placements", ""))
    async with served(api.routes(), reviews, process) as client, client.get(PATH) as answer:
        return answer.status, json.loads(await answer.read())


async def test_people_read_what_could_be_oversold_before_anything_is_granted() -> None:
    one = Oversold(PREVIEW, most=0)
    await one.minutes()
    api = OversellApi(one.keeping)
    status, found = await asked(api, one.keeping.process)
    assert status == 200
    assert found["items"][0]["ratio"] == 1.25
    assert "the policy has mode: Preview" in overview(decode(found))
    assert (await asked(api, one.keeping.process, may=False))[0] == 403


async def test_off_clusters_there_is_none() -> None:
    status, found = await asked(OversellApi(None), fake_process())
    assert (status, found["error"]) == (404, ALONE)
    assert msgspec.json.encode(found)
