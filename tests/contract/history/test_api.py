"""A workload's history over a real socket: from reports with summaries to arrays with gaps."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from nemutator_common.wire import REPORTS_PATH, Batch, Envelope, Summary
from nemutator_controller.history.endpoint import WorkloadHistoryApi

from tests.contract.gated_apis import served
from tests.controller.history.points import NOW, history, pod, points, quarters
from tests.fakes.batches import busy_report
from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

UNIT = "/api/v1/workloads/system.slice/unit/ssh.service/history"


def summary(path: str, to_at: float, program: str | None = None) -> Summary:
    return Summary(
        path=path,
        pod_uid=None,
        container_id=None,
        program=program,
        from_at=to_at - 15,
        to_at=to_at,
        cpu_cores=0.25,
        memory_bytes=200_000_000,
    )


async def report(brain: StandingBrain, begin: float, quarters_: Sequence[int]) -> None:
    summaries = tuple(
        one
        for number in quarters_
        for at in [begin + 15 * number + 15]
        for one in (summary("/system.slice/ssh.service", at), summary("/", at, "sshd"))
    )
    batch = Batch("n1", "e1", (Envelope(1, replace(busy_report(begin), summaries=summaries)),))
    async with brain.local.post(REPORTS_PATH, data=msgspec.json.encode(batch)) as response:
        assert response.status == 200, await response.text()


async def asked(brain: StandingBrain, path: str, status: int = 200) -> Any:
    async with brain.local.get(path) as response:
        assert response.status == status, await response.text()
        return await response.json()


async def test_units_and_programs_have_a_history_with_gaps(tmp_path: Path) -> None:
    begin = time.time() // 60 * 60 - 600
    async with standing_brain(tmp_path / "data") as brain:
        await report(brain, begin, [0, 1, 2, 3, 8, 9, 10, 11])
        document = await asked(brain, f"{UNIT}?from={begin}&to={begin + 240}&step=60")
        cpu = document["figures"]["cpu_cores"]
        assert cpu["mean"] == [0.25, None, 0.25, None]
        assert cpu["most"] == [
            pytest.approx(0.25, rel=0.001),
            None,
            pytest.approx(0.25, rel=0.001),
            None,
        ]
        assert document["pods"] == [1.0, None, 1.0, None]
        assert document["window"]["memory_bytes"]["mean"] == 200_000_000
        assert (document["container"], document["week"]) == ("-", None)
        # Off clusters a program without a group has the namespace `/`.
        program = f"/api/v1/workloads/{quote('/', safe='')}/Program/sshd/history"
        found = await asked(brain, f"{program}?from={begin}&to={begin + 60}")
        assert found["figures"]["cpu_cores"]["mean"] == [0.25]
        listed = await asked(brain, "/api/v1/history/workloads?name=sshd")
        assert [(one["namespace"], one["owner_kind"]) for one in listed["items"]] == [
            ("/", "program")
        ]
        assert (await asked(brain, "/api/v1/history/workloads?limit=1"))["left_off"] == 1
        assert await asked(brain, f"{UNIT}?from=tomorrow", 400)
        assert await asked(brain, f"{UNIT}?container=x", 404)
        assert await asked(brain, UNIT.replace("ssh", "no"), 404)


async def test_another_brain_goes_on_with_what_was_known(tmp_path: Path) -> None:
    begin = time.time() // 60 * 60 - 600
    path = f"{UNIT}?from={begin}&to={begin + 60}&step=60"
    async with standing_brain(tmp_path / "data") as brain:
        await report(brain, begin, range(4))
        before = await asked(brain, path)
    async with standing_brain(tmp_path / "data") as brain:
        assert await asked(brain, path) == before


async def test_the_same_answer_is_sent_once_and_a_role_in_the_namespace_is_enough() -> None:
    usage, reviews = history(), MemoryReviews()
    two = [pod("a"), pod("b")]
    told = [one for of in range(2) for one in quarters(NOW, 4, of=of)]
    usage.learn("n", points(two, told), now=NOW + 60)
    process = fake_process(clock=ManualClock(NOW + 60))
    reviews.knows("anna-token", "anna")
    reviews.allowed.add(("anna", "get", "topology", "shop"))
    path = "/api/v1/workloads/shop/Deployment/a/history"
    async with served(WorkloadHistoryApi(usage, process).routes(), reviews, process) as client:
        async with client.get(path) as response:
            assert response.status == 200
            tag = response.headers["ETag"]
        async with client.get(path, headers={"If-None-Match": tag}) as response:
            assert response.status == 304
        usage.learn("m", points([pod("a", "1")], quarters(NOW, 4)), now=NOW + 60)
        async with client.get(path, headers={"If-None-Match": tag}) as response:
            assert response.status == 200
        # The path says the namespace, whatever a query says.
        async with client.get(path.replace("shop", "bank") + "?namespace=shop") as response:
            assert response.status == 403
        async with client.get("/api/v1/history/workloads") as response:
            assert response.status == 403
        async with client.get("/api/v1/history/workloads?namespace=shop") as response:
            assert len((await response.json())["items"]) == 2
