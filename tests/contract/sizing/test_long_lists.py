"""The advice for thousands of containers, which is sent in parts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from nemutator_common.wire import Summary
from nemutator_controller.answers import long_answer
from nemutator_controller.sizing.all_advice import AT_ONCE
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import ContainerKey, Requested
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


async def test_a_page_holds_no_more_than_it_is_asked_for_and_says_what_remains() -> None:
    usages = Usages(most=100)
    requested: dict[ContainerKey, Requested] = {}
    for number in range(20):
        summary = Summary(
            path="/kubepods/1", pod_uid="u1", container_id="c1", from_at=NOW - 15, to_at=NOW,
            cpu_cores=0.1, memory_bytes=300_000_000,
        )  # fmt: skip
        keys = [
            ContainerKey(namespace, "Deployment", f"cart-{number:02}", "app")
            for namespace in ("shop", "bank")
        ]
        for step in range(100):
            ended = NOW - 15.0 * step
            one = replace(summary, from_at=ended - 15, to_at=ended)
            learn(usages, [(key, one) for key in keys], now=NOW)
        requested |= {key: Requested(1_000 + 100 * number, None) for key in keys}
    process = fake_process(clock=ManualClock(NOW))
    api = AdviceApi(usages, FixedRequests(requested), NOTHING_GROWS, process)
    people = api.routes()[0].route
    async with served(people) as at, aiohttp.ClientSession() as session:

        async def asked(query: str, **headers: str) -> tuple[int, Any, str]:
            async with session.get(f"{at}{people.path}?{query}", headers=headers) as answer:
                found = await answer.json() if answer.status != 304 else None
                return answer.status, found, answer.headers.get("ETag", "")

        _, everything, tag = await asked("namespace=shop")
        assert (set(everything), tag) == ({"apiVersion", "kind", "items"}, "")
        status, first, tag = await asked("namespace=shop&orderBy=waste&limit=3")
        assert (status, first["kind"], first["remaining"]) == (200, "AdviceList", 17)
        assert [one["owner"] for one in first["items"]] == ["cart-19", "cart-18", "cart-17"]
        assert first["totals"]["containers"] == 20, "of all, but of no other namespace"
        shown = {one["owner"]: one for one in everything["items"]}
        assert all(shown[one["owner"]] == one for one in first["items"])
        assert await asked("namespace=shop&orderBy=waste&limit=3", **{"If-None-Match": tag}) == (
            304,
            None,
            tag,
        )
        more = f"namespace=shop&orderBy=waste&limit=20&continue={first['next']}"
        _, rest, _ = await asked(more)
        assert (len(rest["items"]), rest["next"], rest["remaining"]) == (17, "", 0)
        _, some, _ = await asked("search=BANK%2Fcart-0&limit=5")
        assert {one["namespace"] for one in some["items"]} == {"bank"}
        assert (len(some["items"]), some["remaining"]) == (5, 5)
        _, own, _ = await asked("namespace=bank&workload=Deployment%2Fcart-07")
        assert [one["owner"] for one in own["items"]] == ["cart-07"]
        assert own["totals"]["containers"] == 1
        _, none, _ = await asked("limit=5&search=nothing-like-it")
        assert (none["items"], none["remaining"]) == ([], 0)
        for wrong in ("limit=0", "orderBy=cost", "limit=3&continue=x"):
            status, refused, _ = await asked(wrong)
            assert (status, refused["remedy"]) == (400, "see docs/advice.md")


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
