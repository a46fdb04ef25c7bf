"""What `up` puts up to be tried, put up at each start of a real brain and real credentials."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from nemutator_agent.app import credentials
from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_common.data_directory_files import prepare, renew_link_token
from nemutator_ctl.up import sample
from nemutator_ctl.up.sample import PutUp
from nemutator_ctl.up.sample_api import LocalSampleApi

from tests.fakes.brains import StandingBrain, standing_brain
from tests.testbed.running.waiting import until

PATIENCE_S = 60.0
MUTATIONS = "/api/v1/mutations"
OBJECTS = "/api/v1/objects"
TOMBSTONES_PATH = "/api/v1/tombstones"


@contextlib.asynccontextmanager
async def machine(root: Path) -> AsyncIterator[StandingBrain]:
    directory = prepare(root)
    if not directory.link_token.exists():
        renew_link_token(directory)
    stop, socket = asyncio.Event(), directory.socket("credentials")
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(credentials.run(CredentialsSettings(data_dir=root, node="n1"), stop))
        try:
            async with standing_brain(root) as brain:
                await asyncio.to_thread(until, socket.exists, "credentials", within_s=PATIENCE_S)
                yield brain
        finally:
            stop.set()


async def put_up(brain: StandingBrain) -> PutUp:
    return await LocalSampleApi(brain.directory).put_up()


async def posted(brain: StandingBrain, path: str, document: object = None) -> Any:
    async with brain.local.post(path, json=document) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def asked(brain: StandingBrain, path: str) -> Any:
    async with brain.local.get(path) as answer:
        assert answer.status == 200
        return await answer.json()


@pytest.mark.slow
async def test_what_a_person_changed_and_took_back_stays_so_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path / "data") as brain:
        first = await put_up(brain)
        assert first.mutation is not None
        assert await put_up(brain) == first, "what can be taken back is named again"
        taken_back = await posted(brain, f"{MUTATIONS}/{first.mutation}/rollback")
        assert taken_back["state"] == "reversed"
        policy, shop = sample.POLICY, sample.MANIFEST
        await posted(brain, OBJECTS, policy | {"spec": policy["spec"] | {"mode": "Preview"}})
        await posted(brain, OBJECTS, shop | {"spec": shop["spec"] | {"replicas": 7}})
    async with machine(tmp_path / "data") as brain:
        before = await asked(brain, MUTATIONS), await asked(brain, OBJECTS)
        assert await put_up(brain) == PutUp(secret=sample.SECRET, mutation=None)
        assert (await asked(brain, MUTATIONS), await asked(brain, OBJECTS)) == before


@pytest.mark.slow
async def test_what_was_taken_back_is_made_again_by_the_commands_that_are_named(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path / "data") as brain:
        first = await put_up(brain)
        await posted(brain, f"{MUTATIONS}/{first.mutation}/rollback")
        assert (await put_up(brain)).mutation is None
        assert await applied_again(brain) == ""
        query = urlencode({"namespace": "sample", "workload": sample.WORKLOAD})
        await posted(brain, f"{TOMBSTONES_PATH}/forget?{query}")
        made = await applied_again(brain)
        assert made
        assert (await put_up(brain)).mutation == made != first.mutation


async def applied_again(brain: StandingBrain) -> str:
    """The id of what was made of the sample's file; empty where nothing was."""
    file = brain.directory.objects / sample.FILE
    async with brain.local.post(OBJECTS, data=file.read_bytes()) as answer:
        made: str = (await answer.json())["id"]
        return made


async def test_a_mutation_that_somebody_wrote_over_is_not_offered(tmp_path: Path) -> None:
    async with machine(tmp_path / "data") as brain:
        first = await put_up(brain)
        await posted(
            brain,
            OBJECTS,
            sample.POLICY | {"spec": {**sample.POLICY["spec"], "mode": "Preview"}},
        )
        await posted(brain, OBJECTS, sample.MANIFEST)
        assert first.mutation is not None
        assert (await put_up(brain)).mutation is None
