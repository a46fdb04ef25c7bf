"""The API of neighbours over HTTP, behind the gate of a cluster's console, and the command that reads it."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import ClientSession
from nemutator_controller.neighbours.endpoint import NEIGHBOURS, NeighboursApi
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.verdicts import Verdicts
from nemutator_ctl.neighbours.view import decode, decode_one, details, overview

from tests.contract.gated_apis import served
from tests.controller.neighbours.graded import link, looked, placed
from tests.controller.neighbours.test_looking import Places, in_turn
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


@contextlib.asynccontextmanager
async def standing(namespace: str = "") -> AsyncIterator[ClientSession]:
    process = fake_process()
    verdicts = Verdicts(share=1.0, most=100)
    assessments = NeighbourAssessments(
        NeighbourLearner(process, most_nodes=1), Places(), verdicts, in_turn, process
    )
    node = looked([placed("web-1"), placed("batch-1", namespace="jobs")], link(0, 1))
    for _ in range(2):
        assessments.latest = verdicts.conclude([node], nodes_count=1, now=process.clock.now())
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    reviews.allowed.add(("anna", "get", "neighbours", namespace))
    api = NeighboursApi(assessments, None, process.clock)
    async with served(api.routes(), reviews, process) as client:
        yield client


async def get(client: ClientSession, path: str) -> tuple[int, Any]:
    async with client.get(path) as answer:
        return answer.status, await answer.json()


async def test_victims_and_aggressors_are_listed_and_shown_with_their_links() -> None:
    async with standing() as client:
        status, found = await get(client, NEIGHBOURS)
        assert status == 200
        assert "waits for a CPU" in overview(decode(found))
        status, found = await get(client, f"{NEIGHBOURS}?role=aggressor&of=workloads")
        assert [one["name"] for one in found["items"]] == ["batch"]
        status, found = await get(client, f"{NEIGHBOURS}/shop/web-1")
        assert status == 200
        assert "jobs/batch-1" in details(decode_one(found))


async def test_who_may_see_one_namespace_sees_that_alone() -> None:
    async with standing("shop") as client:
        assert (await get(client, NEIGHBOURS))[0] == 403
        status, found = await get(client, f"{NEIGHBOURS}?namespace=shop")
        assert status == 200
        assert [one["name"] for one in found["items"]] == ["web-1"]
        assert "batch" not in str(found)
        status, found = await get(client, f"{NEIGHBOURS}/shop/web-1?namespace=shop")
        assert (status, found["links"]) == (200, [])
        assert (await get(client, f"{NEIGHBOURS}/jobs/batch-1?namespace=shop"))[0] == 403


async def test_what_is_not_understood_is_refused_with_a_remedy() -> None:
    async with standing() as client:
        for wrong in ("limit=0", "limit=x", "role=friend", "of=nodes"):
            status, found = await get(client, f"{NEIGHBOURS}?{wrong}")
            assert (status, bool(found["remedy"])) == (400, True)
        assert (await get(client, f"{NEIGHBOURS}/shop/nobody"))[0] == 404
