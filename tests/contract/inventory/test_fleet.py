"""What clusters on one database show of each other: the stores by one suite, then over HTTP and by the command line."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_controller.database.access import Database
from nemutator_controller.inventory.documents import workload_item, workload_totals
from nemutator_controller.inventory.fleet.endpoint import FleetApi
from nemutator_controller.inventory.fleet.ports import Publications
from nemutator_controller.inventory.fleet.published import (
    STALE_S,
    SUMMARY,
    UnreadablePublicationError,
    documents_of,
)
from nemutator_controller.inventory.fleet.sql import SqlPublications
from nemutator_controller.inventory.node_documents import node_item
from nemutator_ctl.__main__ import main
from sqlalchemy import text

from tests.fakes.brains import standing_brain
from tests.fakes.databases import opened, opened_on
from tests.fakes.inventory import NOW, shop
from tests.fakes.process import fake_process
from tests.fakes.publications import MemoryPublications
from tests.fakes.scripted_kube import EagerClock
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Publications]:
    if request.param == "memory":
        yield MemoryPublications("east")
    elif request.param == "sqlite":
        with opened(tmp_path / "x.db") as database:
            yield SqlPublications(database, "east")
    else:
        postgres = request.getfixturevalue("postgres")
        with (
            new_database(postgres, tmp_path) as server,
            opened_on(replace(server, schema="nemutator_east")) as database,
        ):
            yield SqlPublications(database, "east")


async def test_the_last_that_was_published_is_shown(store: Publications) -> None:
    assert await store.all_of(SUMMARY) == {}
    await store.publish({SUMMARY: b"one", "nodes": b"some"}, at=1.0)
    await store.publish({SUMMARY: b"two"}, at=2.0)
    found = await store.all_of(SUMMARY)
    assert {name: (one.at, one.packed) for name, one in found.items()} == {"east": (2.0, b"two")}
    nodes = await store.find("east", "nodes")
    assert nodes is not None
    assert (nodes.at, nodes.packed) == (1.0, b"some")
    assert await store.find("west", "nodes") is None
    assert await store.find('east"; DROP TABLE published; --', "nodes") is None
    assert await store.find("east", "other") is None


async def test_tables_are_of_the_cluster_that_has_claimed_them_first(store: Publications) -> None:
    assert await store.owner("1c0e") == "1c0e"
    assert await store.owner("77ab") == "1c0e"
    await store.publish({SUMMARY: b"one"}, at=1.0)
    assert await store.owner("77ab") == "1c0e"


@pytest.mark.e2e
async def test_clusters_on_one_postgresql_keep_apart_and_see_each_other(
    postgres: Postgres, tmp_path: Path
) -> None:
    with new_database(postgres, tmp_path) as server, contextlib.ExitStack() as opened_databases:
        stores = {}
        for name in ("east", "west-2"):
            database = opened_databases.enter_context(
                opened_on(replace(server, schema=f"nemutator_{name}"))
            )
            stores[name] = SqlPublications(database, name)
            await stores[name].publish({SUMMARY: name.encode()}, at=5.0)
            # The same keys in each: none of them meets the other's.
            await database.write(
                lambda connection: connection.execute(
                    text(
                        "INSERT INTO cursors (node, epoch, seq, touched_at) VALUES ('n', 'e', 1, 1)"
                    )
                )
            )
        for one in stores.values():
            found = await one.all_of(SUMMARY)
            assert {name: each.packed for name, each in found.items()} == {
                "east": b"east",
                "west-2": b"west-2",
            }
            count = await one.database.read(
                lambda connection: connection.scalar(text("SELECT count(*) FROM cursors"))
            )
            assert count == 1
        # Who has no name keeps its tables where it always did, and is not shown.
        with opened_on(server) as alone:
            assert set(await SqlPublications(alone, "").all_of(SUMMARY)) == {"east", "west-2"}


async def done(database: Database, statement: str) -> None:
    await database.write(lambda connection: connection.execute(text(statement)))


@pytest.mark.e2e
async def test_tables_that_cannot_be_read_hide_no_other_clusters(
    postgres: Postgres, tmp_path: Path
) -> None:
    with (
        new_database(postgres, tmp_path) as server,
        opened_on(replace(server, schema="nemutator_east")) as database,
    ):
        store = SqlPublications(database, "east")
        await store.publish({SUMMARY: b"one"}, at=5.0)
        for cluster, columns in (("a", "name text"), ("z", "name text, at float8, packed bytea")):
            schema = f"nemutator_{cluster}"
            statements = (
                f"CREATE SCHEMA {schema}",
                f"CREATE TABLE {schema}.published ({columns})",
            )
            for statement in statements:
                await done(database, statement)
        await done(database, "INSERT INTO nemutator_z.published VALUES ('summary', 1e300, '')")
        found = await store.all_of(SUMMARY)
        shown = {name: (one.at, one.packed) for name, one in found.items()}
        assert shown == {"a": (0.0, b""), "east": (5.0, b"one"), "z": (0.0, b"")}
        with pytest.raises(UnreadablePublicationError):
            await store.find("a", SUMMARY)


def published() -> dict[str, bytes]:
    figures = shop()
    several = figures.workloads.values()
    nodes = [node_item(each, None) for each in figures.nodes.values()]
    return documents_of(nodes, [workload_item(each) for each in several], workload_totals(several))


@contextlib.asynccontextmanager
async def served(publications: MemoryPublications) -> AsyncIterator[TestClient[Any, Any]]:
    clock = EagerClock()
    clock.wall = NOW
    api = FleetApi(publications, publications.cluster, process=fake_process(clock=clock))
    app = web.Application()
    app.add_routes(api.routes())
    async with asyncio.timeout(60), TestClient(TestServer(app)) as client:
        yield client


async def asked(client: TestClient[Any, Any], path: str) -> tuple[int, Any]:
    async with client.get(path) as answer:
        return answer.status, await answer.json()


async def fleet() -> MemoryPublications:
    east = MemoryPublications("east")
    await east.publish(published(), at=NOW - 30)
    await MemoryPublications("west", east.kept).publish(published(), at=NOW - STALE_S - 1)
    return east


async def test_all_clusters_and_their_totals_are_listed() -> None:
    async with served(await fleet()) as client:
        status, document = await asked(client, "/api/v1/clusters")
        assert status == 200
        shown = [(one["name"], one["here"], one["stale"]) for one in document["items"]]
        assert shown == [("east", True, False), ("west", False, True)]
        nodes = document["items"][0]["summary"]["nodes"]["nodes"]
        assert document["totals"]["nodes"]["nodes"] == 2 * nodes
        async with client.get("/api/v1/clusters") as answer:
            tag = answer.headers["ETag"]
        async with client.get("/api/v1/clusters", headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304


async def test_lists_of_another_cluster_are_filtered_ordered_and_paged() -> None:
    async with served(await fleet()) as client:
        base = "/api/v1/clusters/west"
        _, nodes = await asked(client, f"{base}/nodes?labelSelector=zone%3Da")
        assert [one["name"] for one in nodes["items"]] == ["n1"]
        assert nodes["counted_at"] == NOW - STALE_S - 1
        _, first = await asked(client, f"{base}/workloads?orderBy=requests&limit=1")
        assert first["remaining"] == len(shop().workloads) - 1
        _, second = await asked(
            client, f"{base}/workloads?orderBy=requests&limit=1&continue={first['next']}"
        )
        assert first["items"] != second["items"]
        _, some = await asked(client, f"{base}/workloads?fieldSelector=autoscaled%3Dtrue")
        assert [one["name"] for one in some["items"]] == ["web"]
        assert some["totals"]["workloads"] == 1
        _, none = await asked(client, f"{base}/workloads?namespace=other")
        assert none["items"] == []


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/v1/clusters/north/nodes", 404, "east, west"),
        ("/api/v1/clusters/west/workloads?as=tree", 400, "list alone"),
        ("/api/v1/clusters/west/nodes?orderBy=x", 400, "orderBy"),
        ("/api/v1/clusters/west/nodes?continue=x", 400, "continue"),
        ("/api/v1/clusters/old/nodes", 409, "upgrade the older"),
    ],
)
async def test_what_cannot_be_shown_is_refused_with_a_remedy(
    path: str, status: int, says: str
) -> None:
    publications = await fleet()
    await MemoryPublications("old", publications.kept).publish({"nodes": b"?"}, at=NOW)
    async with served(publications) as client:
        answered, document = await asked(client, path)
        assert answered == status
        assert says in document["error"] + document["remedy"]
        publications.fails = "gone"
        for one in ("/api/v1/clusters", "/api/v1/clusters/west/nodes"):
            assert (await asked(client, one))[0] == 503


async def test_a_database_for_one_cluster_shows_none() -> None:
    async with served(MemoryPublications("")) as client:
        _, document = await asked(client, "/api/v1/clusters")
        assert document["items"] == []
        assert document["totals"]["clusters"] == 0
        assert (await asked(client, "/api/v1/clusters/east/nodes"))[0] == 404


async def test_commands_ask_for_another_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with standing_brain(tmp_path / "data", cluster_name="here") as brain:

        async def said(*argv: str) -> tuple[int, str, str]:
            argv = (*argv, f"--data-dir={tmp_path / 'data'}")
            code = await asyncio.to_thread(main, argv)
            return code, *capsys.readouterr()

        async with asyncio.timeout(60):
            while "here (here)" not in (found := await said("clusters"))[1]:  # noqa: ASYNC110 - the brain is another process to the command
                await asyncio.sleep(0.05)
        assert found[1].splitlines()[-1].startswith("all 1")
        for command in (["nodes"], ["workloads"], ["top"], ["top", "nodes"]):
            code, _, err = await said(*command, "--cluster=here")
            assert (code, err) == (0, "")
            code, _, err = await said(*command, "--cluster=../x")
            assert code != 0
            assert "clusters" in err
        with pytest.raises(SystemExit):
            main(["workloads", "--cluster=here", "--namespaces"])
        async with brain.local.get("/api/v1/clusters/here/nodes") as answer:
            assert answer.status == 200
