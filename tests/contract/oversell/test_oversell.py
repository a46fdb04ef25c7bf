"""What people see of oversell over HTTP, and what the webhook's path answers."""

import json
from typing import Any

import msgspec
import pytest
from nemutator_common.process import Process
from nemutator_controller.oversell.endpoint import ALONE, PATH, OversellApi
from nemutator_ctl.oversell.view import decode, overview

from tests.contract.gated_apis import served
from tests.controller.oversell.test_keeping import PREVIEW, Oversold
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


async def asked(
    api: OversellApi, process: Process, *, may: bool = True, query: str = ""
) -> tuple[int, Any]:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "placements", ""))
    async with served(api.routes(), reviews, process) as client, client.get(PATH + query) as answer:
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


@pytest.mark.parametrize("query", ["limit=0", "limit=5001", "orderBy=age", "continue=x"])
async def test_a_page_that_nobody_can_have_is_refused_with_its_word(query: str) -> None:
    one = Oversold(PREVIEW, most=0)
    await one.minutes()
    status, found = await asked(OversellApi(one.keeping), one.keeping.process, query=f"?{query}")
    assert (status, found["error"].partition(":")[0]) == (400, query.partition("=")[0])


async def test_a_page_has_no_more_than_was_asked_for() -> None:
    one = Oversold(PREVIEW, most=0)
    await one.minutes()
    api, process = OversellApi(one.keeping), one.keeping.process
    _, everything = await asked(api, process)
    _, page = await asked(api, process, query="?limit=1&orderBy=ratio&search=N")
    assert page["items"] == everything["items"][:1]
    assert (page["remaining"], everything["next"]) == (len(everything["items"]) - 1, "")
