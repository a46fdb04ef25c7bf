"""The uplink's other end over a real socket: what wire.py promises to agents."""

import asyncio
import gzip
import io
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
from nemutator_common.data_directory_files import read_link_token, renew_link_token
from nemutator_common.wire import LARGEST_BATCH_BYTES, REPORTS_PATH, Ack, Batch
from nemutator_common.wire_columns import COLUMNS_FORM
from nemutator_controller.ingest.endpoint import LONG
from nemutator_controller.ingest.long_batches import LONGEST_REPORT_BYTES

from tests.fakes.batches import batch
from tests.fakes.brains import StandingBrain, standing_brain

GZIP = {"Content-Encoding": "gzip"}


def ack(epoch: str, seq: int, report_every_s: float = 0.0) -> dict[str, object]:
    return msgspec.to_builtins(Ack(epoch, seq, report_every_s, form=COLUMNS_FORM))  # type: ignore[no-any-return]


async def post(brain: StandingBrain, given: Batch) -> Any:
    async with brain.local.post(REPORTS_PATH, data=msgspec.json.encode(given)) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def get(brain: StandingBrain, path: str) -> Any:
    async with brain.local.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_reports_are_acknowledged_shown_and_kept(tmp_path: Path) -> None:
    now = time.time()
    async with standing_brain(tmp_path / "data") as brain:
        assert await post(brain, batch((1, 2), at=now - 10)) == ack("e1", 2)
        assert await get(brain, f"{REPORTS_PATH}?node=n1&epoch=e1") == ack("e1", 2)
        topology = await get(brain, "/api/v1/topology")
        assert [node["stale"] for node in topology["nodes"]] == [False]
        history = await get(brain, "/api/v1/history?node=n1&since_s=60")
        assert [round(point["at"] - now) for point in history["points"]] == [-10, -9]


async def test_a_clock_that_is_a_day_ahead_is_named_with_what_to_do(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        ahead = msgspec.json.encode(batch((1,), at=time.time() + 86_400))
        async with brain.local.post(REPORTS_PATH, data=ahead) as answer:
            assert answer.status == 400
            refusal = await answer.json()
        assert "s ahead of the brain's clock" in refusal["error"]
        assert "set the clock" in refusal["remedy"]
        assert await brain.metric('nemutator_batches_refused_total{reason="future"}') == 1.0
        # Others are not held up, and one that is a day behind is taken for what it says.
        assert await post(brain, batch((1,), at=time.time() - 86_400)) == ack("e1", 1)


async def test_what_the_brain_can_take_is_asked_for(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data", reports_per_s=1.0) as brain:
        assert await post(brain, batch((1,))) == ack("e1", 1, 1.0)
        assert await get(brain, f"{REPORTS_PATH}?node=n1&epoch=e1") == ack("e1", 1, 1.0)
        assert await brain.metric("nemutator_report_every_seconds") == 1.0


async def test_three_hundred_nodes_are_a_list_that_is_small_and_bounded(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data", most_nodes=300) as brain:
        names = [f"node-{number:03}" for number in range(300)]
        for name in names:
            await post(brain, batch((1,), node=name, at=time.time()))
        async with brain.local.get("/api/v1/nodes") as answer:
            assert answer.status == 200
            body = await answer.read()
        assert len(body) < 300 * 1_000
        document = json.loads(body)
        assert (document["apiVersion"], document["kind"]) == ("nemutator.io/v1", "NodeList")
        assert [item["name"] for item in document["items"]] == names
        assert {item["sums"]["processes"] for item in document["items"]} == {5}


async def test_one_node_of_many_is_shown_when_it_is_named(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for node in ("n1", "n2", "n3"):
            await post(brain, batch((1,), node=node, at=time.time()))
        for query, shown in (("", ["n1", "n2", "n3"]), ("?node=n2", ["n2"]), ("?node=x", [])):
            topology = await get(brain, f"/api/v1/topology{query}")
            assert [node["name"] for node in topology["nodes"]] == shown


async def test_several_who_ask_for_everything_at_once_get_all_of_it(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        names = [f"node-{number:02}" for number in range(20)]
        for name in names:
            await post(brain, batch((1,), node=name, at=time.time()))
        everything = "/api/v1/topology"
        one = f"{everything}?labelSelector=node%3Dnode-07"
        async with asyncio.TaskGroup() as group:
            paths = (everything, everything, one, everything)
            asked = [group.create_task(get(brain, path)) for path in paths]
        shown = [[node["name"] for node in task.result()["nodes"]] for task in asked]
        assert shown == [names, names, ["node-07"], names]


async def test_a_compressed_batch_is_taken(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        body = gzip.compress(msgspec.json.encode(batch((1,))))
        async with brain.local.post(REPORTS_PATH, data=body, headers=GZIP) as answer:
            assert await answer.json() == ack("e1", 1)


async def test_long_bodies_of_json_are_taken_by_reports_that_are_not(tmp_path: Path) -> None:
    document = msgspec.to_builtins(batch((1, 2)))
    document["unknown to us"] = "x" * LONG
    async with standing_brain(tmp_path / "data") as brain:
        body = msgspec.json.encode(document)
        async with brain.local.post(REPORTS_PATH, data=io.BytesIO(body)) as answer:
            assert await answer.json() == ack("e1", 2)
        document["envelopes"][0]["report"]["unknown to us"] = "x" * LONGEST_REPORT_BYTES
        body = msgspec.json.encode(document)
        async with brain.local.post(REPORTS_PATH, data=io.BytesIO(body)) as answer:
            assert answer.status == 400
            assert "send columns" in await answer.text()


async def test_a_connection_that_waits_holds_no_body(tmp_path: Path) -> None:
    """Thousands of agents keep theirs open; what each posted last is on the disk by then."""
    large = msgspec.to_builtins(batch((1,))) | {"unknown to us": "x" * (1 << 20)}
    body = msgspec.json.encode(large)
    async with standing_brain(tmp_path / "data") as brain:

        async def post_it() -> None:
            async with brain.local.post(REPORTS_PATH, data=io.BytesIO(body)) as answer:
                assert answer.status == 200, await answer.text()

        await post_it()
        tracemalloc.start()
        try:
            # At once, so that each has a connection of its own; the client keeps them open.
            async with asyncio.TaskGroup() as group:
                for _ in range(8):
                    group.create_task(post_it())
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert held < 4 * len(body)


async def test_too_much_is_refused(tmp_path: Path) -> None:
    body = b" " * (LARGEST_BATCH_BYTES + 1)
    async with (
        standing_brain(tmp_path / "data") as brain,
        brain.local.post(REPORTS_PATH, data=gzip.compress(body), headers=GZIP) as answer,
    ):
        assert answer.status == 413


async def test_nothing_acknowledged_is_lost_or_doubled_by_a_restart(tmp_path: Path) -> None:
    now = time.time()
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, batch((1, 2), at=now - 10))
    async with standing_brain(tmp_path / "data") as brain:
        restored = await get(brain, "/api/v1/topology")
        assert [node["stale"] for node in restored["nodes"]] == [True]
        assert await post(brain, batch((1, 2, 3), at=now - 10)) == ack("e1", 3)
        fresh = await get(brain, "/api/v1/topology")
        assert [node["stale"] for node in fresh["nodes"]] == [False]
        history = await get(brain, "/api/v1/history?node=n1")
        assert [round(point["at"] - now) for point in history["points"]] == [-10, -9, -8]


async def test_a_renewed_token_counts_at_once_and_the_old_one_no_more(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        renew_link_token(brain.directory)
        async with brain.local.get("/api/v1/topology") as answer:
            assert answer.status == 401
        token = read_link_token(brain.directory).reveal()
        headers = {"Authorization": f"Bearer {token}"}
        async with brain.stranger.get("/api/v1/topology", headers=headers) as answer:
            assert answer.status == 200


async def test_a_selector_and_a_namespace_filter_and_a_bad_one_is_explained(
    tmp_path: Path,
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, batch((1,)))
        path = "/api/v1/topology?labelSelector=kind%3Dunit,name%3Dunit-1.service"
        [node] = (await get(brain, path))["nodes"]
        assert [workload["name"] for workload in node["workloads"]] == ["unit-1.service"]
        [node] = (await get(brain, "/api/v1/topology?namespace=user.slice"))["nodes"]
        assert node["workloads"] == node["processes"] == []
        async with brain.local.get("/api/v1/topology?labelSelector=a%3D%3D%3D") as answer:
            assert answer.status == 400
            assert "labelSelector" in (await answer.json())["error"]


async def test_questions_about_history_that_make_no_sense_are_explained(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for query, status in {
            "": 400,
            "node=unknown": 404,
            "node=n1&since_s=0": 400,
            "node=n1&since_s=nan": 400,
            "node=n1&since_s=1e99": 400,
            "node=n1&since_s=x": 400,
        }.items():
            async with brain.local.get(f"/api/v1/history?{query}") as answer:
                assert answer.status == status, query
                assert (await answer.json())["remedy"]
