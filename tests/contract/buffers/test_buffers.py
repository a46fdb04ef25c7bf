"""The room that is kept free over HTTP, and the objects behind it on an API server."""

import json
from typing import Any

import pytest
from nemutator_common.process import Process
from nemutator_controller.buffers.endpoint import PATH, BuffersApi
from nemutator_ctl.buffers.view import decode, overview

from tests.contract.gated_apis import served
from tests.controller.buffers.test_keeping import BUSY, Kept, Wishes
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


async def asked(api: BuffersApi, process: Process, *, may: bool = True) -> tuple[int, Any]:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "placements", ""))
    async with served(api.routes(), reviews, process) as client, client.get(PATH) as answer:
        return answer.status, json.loads(await answer.read())


async def test_people_read_how_much_is_kept_free_and_why() -> None:
    given, process = Kept(Wishes(BUSY)), fake_process()
    await given.keeping.round()
    api = BuffersApi(given.keeping, "", "", process)
    status, found = await asked(api, process)
    assert status == 200
    assert "SeasonPolicy busy wants 3 pods" in overview(decode(found))
    assert (await asked(api, process, may=False))[0] == 403


@pytest.mark.parametrize("why", ["there is no cluster", "brain.buffer_pods is 0"])
async def test_where_none_is_kept_the_answer_says_so(why: str) -> None:
    process = fake_process()
    status, found = await asked(BuffersApi(None, why, "do it", process), process)
    assert (status, found) == (409, {"error": why, "remedy": "do it"})
