"""What the brain of another cluster has saved of its history, on one database: over HTTP and by the command."""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from nemutator_controller.database.access import Database
from nemutator_controller.history.endpoint import WorkloadHistoryApi
from nemutator_controller.history.fleet.endpoint import FleetHistoryApi
from nemutator_controller.history.fleet.sql import SqlSavedHistories
from nemutator_controller.history.saving import UsageHistorySaver
from nemutator_controller.history.sql import SqlUsageHistory
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.sizing.keys import ContainerKey
from sqlalchemy import text

from tests.contract.gated_apis import served
from tests.contract.history.test_api import report
from tests.controller.history.points import NOW, history, pod, points, quarters
from tests.fakes.brains import standing_brain
from tests.fakes.clocks import ManualClock
from tests.fakes.command_lines import CommandLine
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

CART = "/workloads/shop/deployment/cart/history"


async def saved(database: Database, cpu: float) -> UsageHistory:
    """A history of three hours, as its brain saves it."""
    usage, clock = history(), ManualClock(NOW)
    saver = UsageHistorySaver(
        usage, SqlUsageHistory(database, ContainerKey), fake_process(clock=clock)
    )
    pods = [pod("cart"), pod("till")]
    for minute in range(180):
        clock.jump(60)
        told = [one for of in range(2) for one in quarters(clock.now() - 60, 4, cpu=cpu, of=of)]
        usage.learn("n", points(pods, told), now=clock.now())
        if minute % 30 == 29:
            await saver.settle_once()
            await saver.save()
    return usage


@contextlib.asynccontextmanager
async def shown(database: Database, cluster: str = "east") -> AsyncIterator[ClientSession]:
    """The API of the brain of *cluster*, for somebody who may see all clusters."""
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    reviews.allowed.add(("anna", "get", "clusters", ""))
    process = fake_process(clock=ManualClock(NOW + 180 * 60))
    histories = SqlSavedHistories(database, cluster, ContainerKey)
    async with served(
        FleetHistoryApi(histories, cluster, process).routes(), reviews, process
    ) as client:
        yield client


async def asked(client: ClientSession, path: str) -> tuple[int, Any]:
    async with client.get(path) as response:
        return response.status, await response.json()


async def test_each_clusters_history_is_what_its_own_brain_shows(
    databases: Mapping[str, Database],
) -> None:
    usages = {
        name: await saved(database, cpu)
        for cpu, (name, database) in enumerate(databases.items(), 1)
    }
    reviews, query = MemoryReviews(), "?from=-10000&step=300"
    reviews.knows("anna-token", "anna")
    reviews.allowed.add(("anna", "get", "topology", ""))
    async with shown(databases["east"]) as client:
        for name, usage in usages.items():
            process = fake_process(clock=ManualClock(NOW + 180 * 60))
            routes = WorkloadHistoryApi(usage, process).routes()
            async with served(routes, reviews, process) as own:
                status, ours = await asked(own, f"/api/v1{CART}{query}")
                assert status == 200
                assert await asked(client, f"/api/v1/clusters/{name}{CART}{query}") == (200, ours)
                listed = "/history/workloads"
                assert await asked(client, f"/api/v1/clusters/{name}{listed}") == await asked(
                    own, f"/api/v1{listed}"
                )
        path = f"/api/v1/clusters/east{CART}{query}"
        async with client.get(path) as response:
            tag = response.headers["ETag"]
        async with client.get(path, headers={"If-None-Match": tag}) as response:
            assert response.status == 304


async def test_what_is_not_there_is_said_with_a_remedy(databases: Mapping[str, Database]) -> None:
    await saved(databases["east"], 1.0)
    async with shown(databases["east"]) as client:
        for path, status, says in (
            (f"/api/v1/clusters/north{CART}", 404, "nemutator clusters"),
            ('/api/v1/clusters/east"; DROP TABLE cursors; --/history/workloads', 404, "clusters"),
            (f"/api/v1/clusters/east{CART}?from=tomorrow", 400, "from"),
            (f"/api/v1/clusters/east{CART}?container=x", 404, "it has app"),
            ("/api/v1/clusters/east/workloads/shop/Deployment/x/history", 404, "lists all"),
            ("/api/v1/clusters/east/history/workloads?limit=0", 400, "limit"),
        ):
            found, document = await asked(client, path)
            assert found == status, document
            assert says in f"{document['error']} {document['remedy']}"
        _, one = await asked(client, "/api/v1/clusters/east/history/workloads?limit=1&name=till")
        assert ([row["owner"] for row in one["items"]], one["left_off"]) == (["till"], 0)
    async with shown(databases["east"], cluster="") as client:
        # A database for one cluster shows none by name.
        assert (await asked(client, f"/api/v1/clusters/east{CART}"))[0] == 404


@pytest.mark.parametrize("databases", ["postgres"], indirect=True)
@pytest.mark.e2e
async def test_what_another_version_has_saved_is_refused_and_ours_is_shown(
    databases: Mapping[str, Database],
) -> None:
    for database in databases.values():
        await saved(database, 1.0)
    await databases["west"].write(
        lambda connection: connection.execute(text("ALTER TABLE history_rows DROP COLUMN owner"))
    )
    async with shown(databases["east"]) as client:
        status, document = await asked(client, f"/api/v1/clusters/west{CART}")
        assert (status, document["remedy"]) == (
            409,
            "upgrade the older of the two clusters' brains",
        )
        assert (await asked(client, f"/api/v1/clusters/east{CART}"))[0] == 200


async def test_the_command_asks_for_another_clusters_history(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data", cluster_name="here") as brain:
        await report(brain, time.time() // 60 * 60 - 600, range(12))
    # It saves once a minute, and when it stops.
    async with standing_brain(tmp_path / "data", cluster_name="here") as brain:
        own, found, listed, unknown = [
            await nemutator("history", *words)
            for words in (
                ["ssh.service"],
                ["ssh.service", "--cluster=here"],
                ["--cluster=here"],
                ["--cluster=there"],
            )
        ]
    assert "0.250" in found.out, found.err
    assert found.out.splitlines()[2:] == own.out.splitlines()[2:]
    assert "unit/ssh.service" in listed.out
    assert "no cluster of that name" in unknown.err
