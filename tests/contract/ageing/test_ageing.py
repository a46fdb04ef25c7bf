"""Windows on their way from a node to the people who look, through a whole brain."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from nemutator_common.windows import WindowPause, WindowReading, WindowSymbols
from nemutator_common.wire import StreamBatch
from nemutator_ctl.ageing.view import decode, decode_one, details, overview

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.windows import heap_reading, symbols

PATH = "/uplink/v1/streams/windows"
PATIENCE_S = 60.0


def leaking(count: int) -> list[WindowReading]:
    """Readings of the last minutes, one each 30 s; the heap grows by 3 MB with each."""
    begin = time.time() - 30.0 * count
    return [
        replace(one, process=replace(one.process, started_at=begin - 10))
        for place in range(count)
        for one in [
            heap_reading(at=begin + 30 * place, in_use=(1 + 3 * place) << 20, collection=place)
        ]
    ]


async def post(
    brain: StandingBrain, first: int, *records: WindowReading | WindowSymbols | WindowPause
) -> int:
    content = tuple(msgspec.to_builtins(one) for one in records)
    body = msgspec.json.encode(StreamBatch("n", "e", first, content))
    async with brain.local.post(PATH, data=body) as answer:
        return answer.status


async def get(brain: StandingBrain, path: str) -> Any:
    async with brain.local.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def listed(brain: StandingBrain, verdict: str) -> Any:
    """The list, once its first item has *verdict*."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await get(brain, "/api/v1/ageing")
            if found["items"] and found["items"][0]["verdict"] == verdict:
                return found
            await asyncio.sleep(0.1)


async def test_a_node_that_has_stopped_looking_is_named_until_it_goes_on(tmp_path: Path) -> None:
    pause = WindowPause(node="n", at=time.time(), paused=True, reason="memory", why="it is full")
    async with standing_brain(tmp_path / "data") as brain:
        assert await post(brain, 1, pause) == 200
        (shown,) = (await get(brain, "/api/v1/ageing"))["paused"]
        assert (shown["node"], shown["why"]) == ("n", "it is full")
        assert await post(brain, 2, replace(pause, paused=False)) == 200
        assert (await get(brain, "/api/v1/ageing"))["paused"] == []


async def test_a_leak_is_told_with_its_line_and_survives_a_restart(tmp_path: Path) -> None:
    # Posted before the first look of a second life, so that nobody waits for the next one.
    async with standing_brain(tmp_path / "data") as brain:
        assert await post(brain, 1, symbols(), *leaking(10)) == 200
    async with standing_brain(tmp_path / "data") as brain:
        found = await listed(brain, "leak")
        (item,) = found["items"]
        assert (item["state"], item["measure"]) == ("provisional", "heap")
        assert 6.0e6 < item["rate_per_min"] < 6.6e6
        assert len(item["points"]) == 10
        assert "main.remember" in item["sentence"]
        assert "shop.service" in overview(decode(found))
        one = await get(brain, f"/api/v1/ageing/{item['id']}")
        assert len(one["series"][0]["heap"]) == 10
        assert "main.go:79" in details(decode_one(one))
        assert one["busiest"]["seconds"] == 86_400
        async with brain.local.get(f"/api/v1/ageing/{item['id']}?seconds=x") as answer:
            assert answer.status == 400
        async with brain.local.get(f"/api/v1/ageing/{item['id']}/folded") as answer:
            assert (await answer.text()).startswith("[no_name]") is False
            assert "main.main;main.remember" in await answer.text()
        async with brain.local.get(f"/api/v1/ageing/{item['id']}/flamegraph") as answer:
            assert "script-src 'sha256-" in answer.headers["Content-Security-Policy"]
            page = await answer.text()
            assert "main.remember" in page
            assert "first reading" in page
        elsewhere = await get(brain, "/api/v1/ageing?namespace=bank")
        assert (elsewhere["items"], elsewhere["paused"]) == ([], [])
    async with standing_brain(tmp_path / "data") as brain:
        again = await get(brain, "/api/v1/ageing")
        assert again["items"][0]["first_seen"] == item["first_seen"]


async def test_what_is_no_window_is_refused_and_what_is_unknown_is_not_found(
    tmp_path: Path,
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        assert await post(brain, 1, replace(heap_reading(), node="other")) == 400
        assert await post(brain, 1, replace(heap_reading(), at=-1.0)) == 400
        async with brain.local.get("/api/v1/ageing/0123") as answer:
            assert answer.status == 404
        async with brain.local.get("/api/v1/ageing?limit=0") as answer:
            assert answer.status == 400
        assert (await get(brain, "/api/v1/ageing"))["items"] == []
