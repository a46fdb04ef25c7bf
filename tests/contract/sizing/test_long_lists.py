"""The advice for thousands of containers, which is sent in parts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from nemutator_common.wire import Summary
from nemutator_controller.answers import long_answer
from nemutator_controller.sizing.all_advice import AT_ONCE
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.usages import Usages

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.sizing import NOTHING_GROWS, FixedRequests, learn

NOW = 1_700_000_000.0
MANY = 2 * AT_ONCE + 1


@contextlib.asynccontextmanager
async def served(*routes: web.RouteDef) -> AsyncIterator[str]:
    application = web.Application()
    application.add_routes(routes)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("count", [0, 1, MANY])
async def test_each_container_is_in_it_once(count: int) -> None:
    usages = Usages(most=MANY)
    summary = Summary(
        path="/kubepods/1", pod_uid="u1", container_id="c1", from_at=NOW - 15, to_at=NOW,
        cpu_cores=0.2, memory_bytes=300_000_000,
    )  # fmt: skip
    names = {f"cart-{number}" for number in range(count)}
    learn(
        usages,
        [(ContainerKey("shop", "Deployment", name, "app"), summary) for name in names],
        now=NOW,
    )
    api = AdviceApi(usages, FixedRequests({}), NOTHING_GROWS, fake_process(clock=ManualClock(NOW)))
    people, admission = api.routes()[0].route, api.uplink_routes()[0].route
    async with served(people, admission) as at, aiohttp.ClientSession() as session:
        tags = []
        for path in people.path, admission.path:
            async with session.get(at + path) as answer:
                items = (await answer.json())["items"]
                tags.append(answer.headers.get("ETag", ""))
            assert len(items) == count
            assert {one["owner"] for one in items} == names
        async with session.get(at + admission.path, headers={"If-None-Match": tags[-1]}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")


async def test_others_have_their_turns_between_two_parts() -> None:
    seen: list[str] = []

    async def parts() -> AsyncIterator[bytes]:
        for number in range(3):
            seen.append("part")
            asyncio.get_running_loop().call_soon(seen.append, "another")
            yield b"%d" % number

    async def answered(_: web.Request) -> web.Response:
        return long_answer({"kind": "Numbers", "items": []}, parts())

    async with (
        served(web.get("/", answered)) as at,
        aiohttp.ClientSession() as session,
        session.get(at) as answer,
    ):
        assert await answer.json() == {"kind": "Numbers", "items": [0, 1, 2]}
    assert seen == ["part", "another"] * 3
