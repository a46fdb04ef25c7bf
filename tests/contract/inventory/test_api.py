"""What the inventory answers, over HTTP: of a cluster that does not exist, and of a whole brain off clusters."""

import asyncio
import contextlib
import json
import re
import shlex
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common.wire import Envelope
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.deploys_endpoint import DeploysApi
from nemutator_controller.inventory.endpoint import InventoryApi
from nemutator_controller.inventory.flows_endpoint import FlowsApi
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.inventory.model import ClusterFigures
from nemutator_controller.prices import Prices
from nemutator_ctl.__main__ import main

from tests.contract.ingest.test_uplink import post
from tests.controller.inventory.test_deploys import ALL as VERSIONS
from tests.controller.inventory.test_flows import OBJECTS, PODS, flow
from tests.fakes.batches import batch, busy_report
from tests.fakes.brains import standing_brain
from tests.fakes.inventory import NOW, FixedCluster, shop
from tests.fakes.pods import picture
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock
from tests.house.tree import REPOSITORY


class CountedFigures:
    def __init__(self) -> None:
        self.figures = shop()

    async def now(self) -> ClusterFigures:
        return self.figures


PRICES = Prices(core_hour=0.04, gib_hour=0.005, currency="EUR")


@contextlib.asynccontextmanager
async def served(further: int = 0) -> AsyncIterator[TestClient[Any, Any]]:
    """*further* nodes report beside the two of every test."""
    clock, nodes = EagerClock(), Nodes(most=10 + further)
    clock.wall = NOW
    for name in ("n1", "gone", *(f"z{number:03}" for number in range(further))):
        nodes.see(name, "e", Envelope(1, busy_report(NOW)), now=NOW)
    process = fake_process(clock=clock)
    counted = CountedFigures()
    api = InventoryApi(
        counted, nodes.all, lambda: 60.0, in_cluster=True, process=process, prices=PRICES
    )
    app = web.Application()
    app.add_routes(api.routes())
    async with asyncio.timeout(60), TestClient(TestServer(app)) as client:
        yield client


async def got(client: TestClient[Any, Any], path: str) -> Any:
    async with client.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_nodes_are_those_of_kubernetes_and_those_that_report() -> None:
    async with served() as client:
        document = await got(client, "/api/v1/nodes")
        assert list(document)[-1] == "items"
        found = {item["name"]: item for item in document["items"]}
        assert list(found) == ["gone", "n1", "n2"]
        assert found["n1"]["allocatable"] == {"cpu_cores": 4.0, "memory_bytes": 8 << 30}
        assert found["n1"]["requested"]["cpu_cores"] == 0.5
        assert found["n1"]["sums"]["processes"] == 5
        assert (found["n2"]["sums"], found["n2"]["stale"]) == (None, True)
        assert found["gone"]["ready"] is False
        assert document["totals"]["nodes"] == 3
        chosen = await got(
            client, "/api/v1/nodes?labelSelector=zone%3Da&fieldSelector=ready%3Dtrue"
        )
        assert [item["name"] for item in chosen["items"]] == ["n1"]


async def test_nodes_come_in_pages_and_never_all_of_many_at_once() -> None:
    async with served(further=500) as client:
        first = await got(client, "/api/v1/nodes")
        assert (len(first["items"]), first["remaining"]) == (500, 3)
        last = await got(client, f"/api/v1/nodes?continue={first['next']}")
        assert [len(last["items"]), last["next"], last["remaining"]] == [3, "", 0]
        names = [item["name"] for item in first["items"] + last["items"]]
        assert len(set(names)) == first["totals"]["nodes"] == 503
        found = await got(client, "/api/v1/nodes?search=Z4%2099")
        assert [item["name"] for item in found["items"]] == ["z499"]


@pytest.mark.parametrize(
    "path", ["/api/v1/nodes", "/api/v1/workloads", "/api/v1/workloads?as=tree"]
)
async def test_what_the_caller_has_is_not_sent_again(path: str) -> None:
    async with served() as client:
        async with client.get(path) as answer:
            tag = answer.headers["ETag"]
        async with client.get(path, headers={"If-None-Match": tag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")
        async with client.get(path, headers={"If-None-Match": 'W/"other"'}) as answer:
            assert answer.status == 200


async def test_workloads_come_in_pages_and_in_the_order_that_is_asked_for() -> None:
    async with served() as client:
        seen, after = [], ""
        while True:
            page = await got(client, f"/api/v1/workloads?orderBy=requests&limit=1&continue={after}")
            seen += [item["name"] for item in page["items"]]
            assert page["totals"]["workloads"] == 3
            if not (after := page["next"]):
                break
        assert seen == ["db-1", "web", "empty"]


async def test_workloads_come_with_the_prices_that_somebody_has_written() -> None:
    async with served() as client:
        document = await got(client, "/api/v1/workloads?limit=1")
        assert document["prices"] == {"core_hour": 0.04, "gib_hour": 0.005, "currency": "EUR"}


@contextlib.asynccontextmanager
async def deploying(cluster: FixedCluster | None) -> AsyncIterator[TestClient[Any, Any]]:
    app = web.Application()
    app.add_routes(DeploysApi(cluster, fake_process(clock=EagerClock())).routes())
    async with asyncio.timeout(60), TestClient(TestServer(app)) as client:
        yield client


async def test_deploys_are_told_of_one_workload_or_of_all() -> None:
    async with deploying(FixedCluster(picture(replica_sets=tuple(VERSIONS)))) as client:
        everything = await got(client, "/api/v1/deploys")
        assert [one["name"] for one in everything["items"]] == ["api", "web", "api"]
        one = await got(client, "/api/v1/deploys?namespace=front&workload=Deployment/web&since=1")
        assert [one["replica_set"] for one in one["items"]] == ["web-1"]


@pytest.mark.parametrize(
    "wrong", ["limit=0", "since=soon", "since=nan", "workload=api", "workload=/a"]
)
async def test_what_is_no_question_about_deploys_is_refused(wrong: str) -> None:
    async with deploying(None) as client, client.get(f"/api/v1/deploys?{wrong}") as answer:
        assert answer.status == 400


async def test_off_clusters_nothing_was_deployed_and_before_the_first_list_nobody_knows() -> None:
    async with deploying(None) as client:
        assert (await got(client, "/api/v1/deploys"))["items"] == []
    async with deploying(FixedCluster()) as client, client.get("/api/v1/deploys") as answer:
        assert answer.status == 503


async def test_workloads_are_a_tree_a_graph_and_sums_of_namespaces() -> None:
    async with served() as client:
        tree = await got(client, "/api/v1/workloads?as=tree&namespace=shop")
        [namespace] = tree["namespaces"]
        pods = {pod["name"] for each in namespace["workloads"] for pod in each["pods"]}
        assert pods == {"web-1", "web-2", "db-1"}
        graph = await got(client, "/api/v1/workloads?as=graph&fieldSelector=name%3Dweb")
        assert {"Deployment/shop/web", "Node/n1"} <= {node["id"] for node in graph["nodes"]}
        named = await got(client, "/api/v1/workloads?as=namespaces")
        assert [item["name"] for item in named["items"]] == ["shop"]
        elsewhere = await got(client, "/api/v1/workloads?namespace=none")
        assert elsewhere["items"] == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("as=forest", "as:"),
        ("limit=0", "limit:"),
        ("orderBy=luck", "orderBy:"),
        ("fieldSelector=luck%3D1", "fieldSelector:"),
        ("labelSelector=%3D%3D", "labelSelector:"),
        ("continue=xyz", "continue:"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused_with_a_reason(
    query: str, why: str
) -> None:
    async with served() as client, client.get(f"/api/v1/workloads?{query}") as answer:
        assert answer.status == 400
        assert (await answer.json())["error"].startswith(why)


async def test_off_clusters_the_same_paths_answer_with_this_machine(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, batch((1,), at=time.time()))
        nodes = await local(brain.local, "/api/v1/nodes")
        [node] = nodes["items"]
        assert node["allocatable"] == {
            "cpu_cores": float(node["sums"]["cpus"]),
            "memory_bytes": node["sums"]["memory_bytes"],
        }
        assert (node["ready"], node["requested"]["cpu_cores"]) == (None, 0.0)
        workloads = await local(brain.local, "/api/v1/workloads")
        assert workloads["items"]
        assert {item["kind"] for item in workloads["items"]} <= {"unit", "container", "group"}
        tree = await local(brain.local, "/api/v1/workloads?as=tree")
        programs = [p for n in tree["namespaces"] for w in n["workloads"] for p in w["programs"]]
        assert sum(each["processes"] for each in programs) > 0


async def local(session: ClientSession, path: str) -> Any:
    async with session.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_flows_have_names_and_pages_and_a_graph() -> None:
    clock = EagerClock()
    clock.wall = NOW
    talking = (flow("web-1", "10.1.0.2"), flow("web-1", "192.0.2.1", sent=9_000))
    kept = KeptFlows()
    kept.take("n1", talking, now=NOW)
    watched = FixedCluster(PODS, OBJECTS)
    app = web.Application()
    app.add_routes(FlowsApi(watched, kept, fake_process(clock=clock)).routes())
    async with asyncio.timeout(60), TestClient(TestServer(app)) as client:
        first = await got(client, "/api/v1/flows?limit=1&namespace=shop")
        assert [item["peer"]["name"] for item in first["items"]] == ["192.0.2.1"]
        rest = await got(client, f"/api/v1/flows?continue={first['next']}")
        assert [item["peer"]["name"] for item in rest["items"]] == ["db-1"]
        graph = await got(client, "/api/v1/flows?as=graph")
        edges = {(edge["source"], edge["target"]) for edge in graph["edges"]}
        assert ("Deployment/shop/web", "Deployment/shop/db") in edges
        assert (await got(client, "/api/v1/flows?namespace=none"))["items"] == []
        for wrong in ("limit=0", "as=tree", "continue=x"):
            async with client.get(f"/api/v1/flows?{wrong}") as answer:
                assert answer.status == 400
        async with client.get("/api/v1/flows") as answer:
            tag = answer.headers["ETag"]
        async with client.get("/api/v1/flows", headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304
        watched.snapshot = None
        async with client.get("/api/v1/flows") as answer:
            assert answer.status == 503


async def test_the_commands_show_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await post(brain, batch((1,), at=time.time()))

        async def said(*words: str) -> str:
            ran = await asyncio.to_thread(main, [*words, f"--data-dir={tmp_path / 'data'}"])
            out, err = capsys.readouterr()
            assert (ran, err) == (0, "")
            return out

        page = (REPOSITORY / "docs" / "inventory.md").read_text()
        documented = re.findall(r"^\.venv/bin/nemutator (.+)$", page, re.MULTILINE)
        assert len(documented) >= 8
        for words in documented:
            assert await said(*shlex.split(words)), words
        assert "n1" in await said("nodes")
        assert "CONDITIONS" in await said("nodes", "-o", "wide")
        assert json.loads(await said("nodes", "-o", "json"))["kind"] == "NodeList"
        assert "WASTE" in await said("workloads", "--by=memory", "-o", "wide")
        assert "NAMESPACE" in await said("workloads", "--namespaces")
        assert "no such workloads" in await said("workloads", "-l", "team=none")
        assert "kind: WorkloadList" in await said("workloads", "-o", "yaml")
        exported = json.loads(await said("workloads", "--format=legacy"))
        assert exported == {"deployments": [], "replicas": [], "pods": []}
        assert "CPU WASTE" in await said("top", "--by=memory", "--limit=1")
        assert "n1" in await said("top", "nodes")
        told = batch((2,), at=time.time())
        talking = replace(told.envelopes[0].report, flows=(flow("web-1", "10.1.0.2"),))
        await post(brain, replace(told, envelopes=(Envelope(2, talking),)))
        flows = await local(brain.local, "/api/v1/flows")
        assert (flows["kind"], flows["items"]) == ("FlowList", [])
