"""Profiles that the brain of another cluster keeps, on one database: over HTTP and by commands."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from nemutator_common.errors import ExitCode
from nemutator_controller.database.access import Database
from nemutator_controller.profiles.fleet.endpoint import FleetProfilesApi
from nemutator_controller.profiles.fleet.sql import SqlClusterProfiles
from nemutator_controller.profiles.separating import SeparatedProfiles
from nemutator_controller.profiles.sql import SqlProfiles
from sqlalchemy import text

from tests.contract.gated_apis import served
from tests.contract.profiles.test_profiles import asked as ask
from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.objects import MemoryObjects
from tests.fakes.process import fake_process
from tests.fakes.profiles import content, profile
from tests.fakes.profiling_agents import FakeAgent
from tests.fakes.reviews import MemoryReviews

ONE, TWO = "0123456789abcdef", "fedcba9876543210"


@contextlib.asynccontextmanager
async def shown(
    database: Database, contents: MemoryObjects | None = None, *, resource: str = "clusterprofiles"
) -> AsyncIterator[ClientSession]:
    """The API of the brain of `east`, for somebody who may see *resource*."""
    reviews, process = MemoryReviews(), fake_process()
    reviews.knows("anna-token", "anna")
    reviews.allowed.add(("anna", "get", resource, ""))
    api = FleetProfilesApi(
        lambda name: SqlClusterProfiles(database, name, "east", contents),
        lambda: "https://east",
        process,
    )
    async with served(api.routes(), reviews, process) as client:
        yield client


async def asked(client: ClientSession, path: str) -> tuple[int, Any]:
    async with client.get(f"/api/v1/clusters/{path}") as response:
        return response.status, await response.json()


async def test_profiles_of_each_cluster_are_listed_and_opened(
    databases: Mapping[str, Database],
) -> None:
    for identity, (name, database) in zip((ONE, TWO), databases.items(), strict=False):
        record = replace(profile(), id=identity, node=f"n-{name}", state="done")
        await SqlProfiles(database).save(record, content())
    async with shown(databases["east"]) as client:
        for identity, name in zip((ONE, TWO), databases, strict=False):
            _, listed = await asked(client, f"{name}/profiles")
            [one] = listed["items"]
            path = f"/api/v1/clusters/{name}/profiles/{identity}"
            assert (one["id"], one["node"]) == (identity, f"n-{name}")
            assert one["link"] == f"https://east{path}/flamegraph"
            async with client.get(f"{path}/pprof") as response:
                assert await response.read() == content()
            async with client.get(f"{path}/flamegraph") as response:
                assert "main.work" in await response.text()
            other = TWO if identity == ONE else ONE
            assert (await asked(client, f"{name}/profiles/{other}"))[0] == 404
        assert (await asked(client, "north/profiles"))[0] == 404
        assert (await asked(client, f"north/profiles/{ONE}/folded"))[0] == 404


async def test_contents_are_found_in_a_bucket_that_both_use(
    databases: Mapping[str, Database],
) -> None:
    bucket, name = MemoryObjects(), list(databases)[-1]
    record = replace(profile(), id=ONE, state="done")
    await SeparatedProfiles(SqlProfiles(databases[name]), bucket).save(record, content())
    path = f"/api/v1/clusters/{name}/profiles/{ONE}/pprof"
    async with shown(databases["east"], bucket) as client, client.get(path) as response:
        assert await response.read() == content()
    for without in (None, MemoryObjects()):
        async with shown(databases["east"], without) as client:
            status, refused = await asked(client, f"{name}/profiles/{ONE}/pprof")
            assert status == 409
            assert "bucket" in refused["remedy"]


async def test_who_may_see_sizes_of_all_clusters_sees_no_profiles(
    databases: Mapping[str, Database],
) -> None:
    async with shown(databases["east"], resource="clusters") as client:
        assert (await asked(client, "east/profiles"))[0] == 403


@pytest.mark.parametrize("databases", ["postgres"], indirect=True)
@pytest.mark.e2e
async def test_what_another_version_keeps_is_refused(databases: Mapping[str, Database]) -> None:
    await databases["west"].write(
        lambda connection: connection.execute(text("ALTER TABLE profiles DROP COLUMN document"))
    )
    async with shown(databases["east"]) as client:
        assert (await asked(client, "west/profiles"))[0] == 409
        assert (await asked(client, "east/profiles"))[0] == 200


async def test_commands_show_kept_profiles_of_a_cluster(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data", cluster_name="here") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        await ask(brain)
        [request] = await agent.requests()
        await agent.report(request, "done")
        for of in ([], ["--cluster=here"]):
            listed = await nemutator("profile", "--kept", *of)
            assert listed.code == ExitCode.OK, listed.err
            assert f"{request.id}   " in listed.out
        file = tmp_path / "x.folded"
        words = "--kept", "--cluster=here", request.id, "-o", file
        one = await nemutator("profile", *words)
        assert one.code == ExitCode.OK, one.err
        assert "main.work" in one.out
        assert file.read_text() == "main.idle 1\nmain.work 1\n"
        unknown = await nemutator("profile", "--kept", "--cluster=there")
        asked_for = await nemutator("profile", "pid:1", "--cluster=here")
    assert "no cluster of that name" in unknown.err
    assert asked_for.code == ExitCode.USAGE
