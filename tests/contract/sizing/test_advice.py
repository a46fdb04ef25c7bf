"""Advice over a real socket: from reports with summaries to a document with reasons."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common.wire import REPORTS_PATH, Batch, Envelope, Pressures, Summary, Workload

from tests.fakes.batches import busy_report
from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.manifests import deployment, policy

UNIT = "/system.slice/ssh.service"
ADVICE = "/uplink/v1/advice"


def summed(
    first: int, count: int, *, begun_at: float, cores: float = 0.2, path: str = UNIT
) -> Batch:
    """So many reports with one summary each, a quarter of a minute apart."""

    def envelope(number: int) -> Envelope:
        at = begun_at + 15.0 * number
        summary = Summary(
            path=path,
            pod_uid=None,
            container_id=None,
            from_at=at - 15.0,
            to_at=at,
            cpu_cores=cores,
            memory_bytes=200_000_000,
        )
        return Envelope(number, replace(busy_report(at), summaries=(summary,)))

    return Batch("n1", "e1", tuple(envelope(number) for number in range(first, first + count)))


def unit_group(path: str) -> Workload:
    return Workload(
        path=path,
        kind="unit",
        name=path.rpartition("/")[2],
        container_id=None,
        pod_uid=None,
        processes=1,
        cpu_cores=0.2,
        memory_bytes=200_000_000,
        pressures=Pressures(),
    )


async def post(brain: StandingBrain, batch: Batch) -> None:
    async with brain.local.post(REPORTS_PATH, data=msgspec.json.encode(batch)) as answer:
        assert answer.status == 200, await answer.text()


async def advice(brain: StandingBrain, query: str = "") -> Sequence[Any]:
    async with brain.local.get(f"/api/v1/advice{query}") as answer:
        assert answer.status == 200
        document = await answer.json()
    assert document["kind"] == "AdviceList"
    items: Sequence[Any] = document["items"]
    return items


async def test_advice_grows_from_a_reason_to_a_firm_value(tmp_path: Path) -> None:
    begun_at = time.time() - 100
    async with standing_brain(tmp_path / "data") as brain:
        assert await advice(brain) == []
        await post(brain, summed(1, 3, begun_at=begun_at))
        [early] = await advice(brain)
        assert (early["state"], early["requests"]) == ("not_yet", {"cpu": None, "memory": None})
        assert early["reason"] == "3 of 8 points, ask again in 75 s"
        await post(brain, summed(4, 5, begun_at=begun_at))
        [provisional] = await advice(brain)
        assert provisional["state"] == "provisional"
        assert provisional["reason"] == "8 of 100 points, over 2 min"
        await post(brain, summed(9, 92, begun_at=begun_at - 1_500))
        [firm] = await advice(brain, "?namespace=system.slice")
        young = "no limit of memory before a day: 25 min of data"
        assert (firm["state"], firm["reason"], firm["points"]) == ("firm", young, 100)
        assert (firm["owner_kind"], firm["owner"]) == ("unit", "ssh.service")
        assert (firm["requests"]["memory"], firm["lower"]["memory"]) == ("802M", "200M")
        assert firm["limits"] == {"cpu": None, "memory": None}
        assert firm["use"]["memory_p95"] == firm["use"]["memory_max"] == 200_000_000
        assert 0 < firm["confidence"]["cpu"] < 0.02
        assert 200 <= int(firm["requests"]["cpu"].removesuffix("m")) <= 220
        assert await advice(brain, "?namespace=other") == []


async def test_how_often_it_used_how_much_is_told_of_one_workload(tmp_path: Path) -> None:
    path = "/api/v1/advice/histograms"
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, summed(1, 10, begun_at=time.time() - 200))
        async with brain.local.get(f"{path}?workload=unit/ssh.service") as answer:
            assert answer.status == 200
            [found] = (await answer.json())["items"]
        assert (found["namespace"], found["container"]) == ("system.slice", "-")
        assert sum(share for _, _, share in found["cpu"]) == pytest.approx(1)
        assert found["memory_peaks"] == [200_000_000]
        for query in ("?workload=unit/none.service", "?workload=ssh.service&namespace=other"):
            async with brain.local.get(f"{path}{query}") as answer:
                assert (await answer.json())["items"] == []
        async with brain.local.get(path) as answer:
            assert answer.status == 400


async def test_a_program_that_ended_without_a_value_is_told_to_admission_alone(
    tmp_path: Path,
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, summed(1, 3, begun_at=time.time() - 7_200))
        assert await advice(brain) == []
        async with brain.local.get(ADVICE) as answer:
            [known] = (await answer.json())["items"]
        assert known["reason"] == "3 of 8 points, last seen 119 min ago"


async def test_a_report_that_comes_twice_counts_once_and_a_restart_forgets_nothing(
    tmp_path: Path,
) -> None:
    begun_at = time.time() - 3600
    async with standing_brain(tmp_path / "data") as brain:
        for _ in range(3):
            await post(brain, summed(1, 9, begun_at=begun_at))
        before = await advice(brain)
    assert before[0]["points"] == 9
    async with standing_brain(tmp_path / "data") as brain:
        assert await advice(brain) == before
        await post(brain, summed(1, 10, begun_at=begun_at))
        assert (await advice(brain))[0]["points"] == 10


async def test_admission_is_told_only_when_a_decision_would_be_another(tmp_path: Path) -> None:
    begun_at = time.time() - 3600
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, summed(1, 9, begun_at=begun_at))
        async with brain.local.get(ADVICE) as answer:
            tag = answer.headers["ETag"]
            assert (await answer.json())["items"][0]["state"] == "provisional"
        await post(brain, summed(10, 5, begun_at=begun_at))
        async with brain.local.get(ADVICE, headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304
        await post(brain, summed(15, 90, begun_at=begun_at))
        async with brain.local.get(ADVICE, headers={"If-None-Match": tag}) as answer:
            assert answer.status == 200
            assert answer.headers["ETag"] != tag
        async with brain.stranger.get(ADVICE) as answer:
            assert answer.status == 401


async def test_a_manifest_gets_the_advice_on_what_it_stands_for(tmp_path: Path) -> None:
    follow = {"resources": {"requests": {"cpu": {"advice": True}, "memory": {"advice": True}}}}

    async def applied(brain: StandingBrain, document: object) -> Any:
        async with brain.local.post("/api/v1/objects", json=document) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    def web(stands_for: str | None) -> dict[str, Any]:
        made: dict[str, Any] = deployment("web")
        if stands_for is not None:
            made["metadata"]["annotations"] = {"nemutator.io/stands-for": stands_for}
        return made

    async with standing_brain(tmp_path / "data") as brain:
        sized = policy("sized")
        sized["spec"]["mutations"] = [follow]
        await applied(brain, sized)
        silent = await applied(brain, web("unit/ssh.service"))
        assert "nothing was reported of the unit ssh.service yet" in silent["warnings"][0]
        await post(brain, summed(1, 9, begun_at=time.time() - 3_600))
        early = await applied(brain, web("unit/ssh.service"))
        assert "no firm advice yet: 9 of 100 points" in early["warnings"][0]
        await post(brain, summed(10, 91, begun_at=time.time() - 3_600))
        found = await applied(brain, web("system.slice/unit/ssh.service"))
        assert found["warnings"] == []
        after = {edit["path"]: edit["after"] for edit in found["edits"]}
        name = "containers[name=app].resources.requests"
        assert after[f"{name}.memory"] == ["802M"]
        assert 200 <= int(after[f"{name}.cpu"][0].removesuffix("m")) <= 210
        last = summed(101, 1, begun_at=time.time() - 3_600).envelopes[0]
        running = replace(last.report, workloads=(unit_group(UNIT),))
        await post(brain, Batch("n1", "e1", (Envelope(101, running),)))
        async with brain.local.get("/api/v1/workloads?search=ssh.service") as answer:
            [unit] = (await answer.json())["items"]
        assert unit["requests"]["memory_bytes"] == 802_000_000
        unsaid = await applied(brain, web(None))
        assert "annotate it with nemutator.io/stands-for" in unsaid["warnings"][0]
        wrong = await applied(brain, web("pod/ssh"))
        assert "expected [CONTAINER=][NAMESPACE/]KIND/NAME" in wrong["warnings"][0]
