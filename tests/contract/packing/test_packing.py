"""What could be emptied, over HTTP."""

import json
from typing import Any

from nemutator_controller.packing.endpoint import PATH, PackingApi
from nemutator_ctl.packing.view import decode, overview

from tests.contract.gated_apis import served
from tests.controller.packing.test_emptying import Packed, cluster
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


async def asked(api: PackingApi, query: str = "", *, may: bool = True) -> tuple[int, Any]:
    reviews, process = MemoryReviews(), fake_process()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "placements", ""))
    async with served(api.routes(), reviews, process) as client, client.get(PATH + query) as answer:
        return answer.status, json.loads(await answer.read())


async def test_people_read_what_could_be_emptied_and_nothing_happens() -> None:
    given = Packed(cluster())
    status, found = await asked(PackingApi(given.emptying))
    assert status == 200
    assert "shop/web to a would have room" in overview(decode(found))
    assert given.evictions.asked == []
    assert (await asked(PackingApi(given.emptying), "?limit=x"))[0] == 400
    assert (await asked(PackingApi(given.emptying), may=False))[0] == 403
    given.nodes.known = False
    assert (await asked(PackingApi(given.emptying)))[0] == 503
    assert (await asked(PackingApi(None)))[0] == 404
