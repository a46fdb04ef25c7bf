"""The topology of many nodes over a real socket: page by page."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from aiohttp import web
from nemutator_controller.cluster.endpoint import AT_ONCE, ENOUGH_S, TopologyApi
from nemutator_controller.cluster.nodes import Nodes

from tests.fakes.batches import NOW, batch
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process

MANY = 3 * AT_ONCE + 1
NAMES = [f"node-{number:02}" for number in range(MANY)]


class Asking:
    def __init__(self, session: aiohttp.ClientSession, at: str) -> None:
        self._session = session
        self._at = at

    async def get(self, **query: str | int) -> tuple[int, Any]:
        async with self._session.get(self._at, params=query) as answer:
            return answer.status, await answer.json()

    async def pages(self, **query: str | int) -> list[list[str]]:
        """The names of each page."""
        found: list[list[str]] = []
        after: dict[str, str] = {}
        while True:
            status, page = await self.get(**query, **after)
            assert status == 200, page
            found.append([node["name"] for node in page["nodes"]])
            assert page["remaining"] == len(NAMES) - sum(map(len, found))
            if not page["next"]:
                return found
            after = {"continue": page["next"]}


def many_nodes() -> Nodes:
    nodes = Nodes(most=MANY)
    for name in NAMES:
        nodes.see(name, "e1", batch((1,)).envelopes[0], now=NOW)
    return nodes


@contextlib.asynccontextmanager
async def asking(api: TopologyApi) -> AsyncIterator[Asking]:
    application = web.Application()
    [route] = api.routes()
    application.add_routes([route.route])
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with aiohttp.ClientSession() as session:
            port = runner.addresses[0][1]
            yield Asking(session, f"http://127.0.0.1:{port}/api/v1/topology")
    finally:
        await runner.cleanup()


def topology(clock: ManualClock, **more: Any) -> TopologyApi:
    return TopologyApi(many_nodes(), lambda: 60.0, fake_process(clock=clock), **more)


async def test_all_nodes_are_in_the_pages_each_once_and_in_order() -> None:
    async with asking(topology(ManualClock(NOW))) as brain:
        assert await brain.pages() == [NAMES]
        assert await brain.pages(limit=10) == [NAMES[:10], NAMES[10:20], NAMES[20:]]
        assert await brain.pages(limit=MANY) == [NAMES]


async def test_a_page_ends_with_the_part_that_has_come_to_enough_bytes() -> None:
    async with asking(topology(ManualClock(NOW), enough_bytes=1)) as brain:
        found = await brain.pages()
    assert [len(page) for page in found] == [AT_ONCE, AT_ONCE, AT_ONCE, 1]
    assert [name for page in found for name in page] == NAMES


class SlowClock(ManualClock):
    """Each reading is far later than the one before, as when the caller takes its time."""

    _readings = 0

    def monotonic(self) -> float:
        self._readings += 1
        return self._readings * ENOUGH_S


async def test_a_page_ends_when_it_has_taken_enough_time() -> None:
    async with asking(topology(SlowClock(NOW))) as brain:
        found = await brain.pages()
    assert [len(page) for page in found] == [AT_ONCE, AT_ONCE, AT_ONCE, 1]


async def test_a_page_goes_on_after_a_node_that_is_gone() -> None:
    async with asking(topology(ManualClock(NOW))) as brain:
        _, page = await brain.get(**{"continue": "node-03x"}, limit=2)
        assert [node["name"] for node in page["nodes"]] == NAMES[4:6]
        _, page = await brain.get(**{"continue": "z"})
        assert (page["nodes"], page["next"], page["remaining"]) == ([], "", 0)


async def test_a_limit_that_is_none_is_refused() -> None:
    async with asking(topology(ManualClock(NOW))) as brain:
        for limit in ("0", "-1", "5001", "x", ""):
            status, refused = await brain.get(limit=limit)
            assert (status, refused["error"]) == (400, "limit: expected 1 to 5000")
