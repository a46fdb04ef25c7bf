"""Reports as columns: the agent's own encoder and client against the brain's listener."""

import contextlib
import struct
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common import wire_columns
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.destinations import LocalBrain
from nemutator_common.shipping.links import BatchRefusedError, LinkUnavailableError
from nemutator_common.shipping.links_over_http import ReportsOverHttp
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import LARGEST_BATCH_BYTES, REPORTS_PATH, Report, Summary
from nemutator_common.wire_columns import (
    COLUMNS_TYPE,
    MAGIC,
    PREFIX,
    ColumnsHead,
    RecordHead,
    RecordPlace,
)

from tests.fakes.batches import busy_report
from tests.fakes.brains import StandingBrain, standing_brain


@contextlib.asynccontextmanager
async def linked(brain: StandingBrain) -> AsyncIterator[ReportsOverHttp]:
    where = LocalBrain(brain.directory.socket("brain"))
    proof = Proof(lambda: read_link_token(brain.directory))
    async with BrainOverHttp(where, proof=proof) as client:
        yield ReportsOverHttp(client)


def used(path: str, at: float, cores: float = 0.5) -> Report:
    one = Summary(
        path=path, pod_uid=None, container_id=None, from_at=at - 15, to_at=at,
        cpu_cores=cores, memory_bytes=100 << 20,
    )  # fmt: skip
    return replace(busy_report(at), summaries=(one,))


async def topology(brain: StandingBrain) -> Any:
    async with brain.local.get("/api/v1/topology") as answer:
        assert answer.status == 200
        return (await answer.json())["nodes"]


async def test_an_agent_learns_the_form_and_its_columns_become_advice(tmp_path: Path) -> None:
    now, form, body = time.time(), ReportColumns(), b""
    async with standing_brain(tmp_path / "data") as brain, linked(brain) as link:
        form.acknowledged(await link.position(writer="n1", epoch="e1"))
        for seq in range(1, 10):
            record = form.record(used("/shop.slice/web.service", now - 300 + 15 * seq))
            body = form.encode("n1", "e1", [(seq, record)])
            assert body.startswith(MAGIC)
            ack = await link.send(body)
            assert (ack.seq, ack.naming, ack.named) == (seq, 1, 1)
            form.acknowledged(ack)
        # The last one again: it counts once.
        await link.send(body)
        assert await brain.metric("nemutator_summaries_learned_total") == 9
        [node] = await topology(brain)
        assert len(node["workloads"]) == len(busy_report().workloads)
        async with brain.local.get("/api/v1/advice") as answer:
            [advice] = (await answer.json())["items"]
        assert advice["owner"] == "web.service"


async def test_a_brain_that_forgot_the_names_is_told_them_again(tmp_path: Path) -> None:
    now, form = time.time(), ReportColumns()
    async with standing_brain(tmp_path / "data") as brain, linked(brain) as link:
        form.acknowledged(await link.position(writer="n1", epoch="e1"))
        body = form.encode("n1", "e1", [(1, form.record(used("/a", now - 30)))])
        form.acknowledged(await link.send(body))
    async with standing_brain(tmp_path / "data") as brain, linked(brain) as link:
        waiting = [(2, form.record(used("/a", now - 15)))]
        with pytest.raises(LinkUnavailableError):
            await link.send(form.encode("n1", "e1", waiting))
        assert await brain.metric('nemutator_batches_refused_total{reason="unknown_series"}') == 1
        position = await link.position(writer="n1", epoch="e1")
        assert (position.seq, position.named) == (1, 0)
        form.acknowledged(position)
        assert (await link.send(form.encode("n1", "e1", waiting))).seq == 2
        assert await brain.metric("nemutator_summaries_learned_total") == 1


def with_snapshot(snapshot: bytes, at: float) -> bytes:
    head = RecordHead(
        taken_at=at, machine=busy_report().machine, workloads=3, processes=5, missing=0,
        snapshot=len(snapshot),
    )  # fmt: skip
    text = msgspec.json.encode(head)
    record = struct.pack("<I", len(text)) + text + snapshot
    batch = ColumnsHead("n1", "e1", (), (RecordPlace(1, len(record)),))
    text = msgspec.json.encode(batch)
    return PREFIX.pack(MAGIC, wire_columns.COLUMNS_FORM, len(text)) + text + record


def bomb() -> bytes:
    return zlib.compress(b" " * (LARGEST_BATCH_BYTES * 8), 9)


def disguised() -> bytes:
    report = busy_report()
    one = replace(report.workloads[0], name="a\u202eb")
    return zlib.compress(msgspec.json.encode(replace(report, workloads=(one,))))


@pytest.mark.parametrize("snapshot", [b"no zlib", bomb(), disguised()])
async def test_a_bad_snapshot_is_shown_as_missing_and_the_node_stays(
    tmp_path: Path, snapshot: bytes
) -> None:
    async with standing_brain(tmp_path / "data") as brain, linked(brain) as link:
        assert (await link.send(with_snapshot(snapshot, time.time()))).seq == 1
        [node] = await topology(brain)
        assert node["workloads"] == []
        assert "unreadable" in node["missing"][0]["why"]
        assert node["machine"]["kernel"] == busy_report().machine.kernel


async def test_another_form_is_refused_by_its_name_and_damage_by_its_reason(tmp_path: Path) -> None:
    body = with_snapshot(b"x", time.time())
    later = PREFIX.pack(MAGIC, 99, 2) + b"{}"
    headers = {"Content-Type": COLUMNS_TYPE}
    async with standing_brain(tmp_path / "data") as brain, linked(brain) as link:
        for wrong, status in ((later, 415), (body[:-1], 400), (MAGIC, 400)):
            async with brain.local.post(REPORTS_PATH, data=wrong, headers=headers) as answer:
                assert answer.status == status
        with pytest.raises(BatchRefusedError):
            await link.send(later)
        assert await brain.metric('nemutator_batches_refused_total{reason="form"}') == 2
        assert await brain.metric('nemutator_batches_refused_total{reason="malformed"}') == 2
