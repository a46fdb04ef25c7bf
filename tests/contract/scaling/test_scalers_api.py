"""ForecastScalers over HTTP: for whom may read advice, and none where there is no cluster."""

import json
from typing import Any

from nemutator_controller.scaling.endpoint import SCALERS_PATH, ScalersApi
from nemutator_controller.scaling.sharing import SpareSharing
from nemutator_ctl.scalers.view import decode, overview

from tests.contract.gated_apis import served
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews
from tests.fakes.scaling import FixedSpare, Raised


async def asked(api: ScalersApi, query: str = "", *, may: bool = True) -> tuple[int, Any]:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "advice", ""))
    async with (
        served(api.routes(), reviews, fake_process()) as client,
        client.get(f"{SCALERS_PATH}{query}") as answer,
    ):
        return answer.status, json.loads(await answer.read())


async def test_people_read_what_is_raised_and_why() -> None:
    given = Raised()
    await given.at(2.6)
    sharing = SpareSharing(
        given.scalers, given.raising, FixedSpare(), given.process, reserve_percent=15
    )
    api = ScalersApi(given.raising, sharing)
    status, found = await asked(api)
    assert status == 200
    assert "up to 2.60 cores are expected within 15 min" in overview(decode(found))
    assert (await asked(api, "?namespace=other"))[1]["items"] == []
    assert (await asked(api, may=False))[0] == 403


async def test_off_clusters_there_is_none() -> None:
    status, found = await asked(ScalersApi(None, None))
    assert (status, found["items"], found["left_off"]) == (200, [], 0)
