"""Tokens on their way from a file through a whole brain to admission, to manifests and to people."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import TOKENS_PATH
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.errors import ExitCode
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.destinations import LocalBrain
from nemutator_common.shipping.links_over_http import DocumentsOverHttp
from nemutator_controller.admission.snapshot_slices import token_slices

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.manifests import deployment
from tests.fakes.redis_server import MemoryRedis, standing_redis
from tests.fakes.slices import whole
from tests.testbed.parts.redis import Redis

PATIENCE_S = 60.0
PATH = "/api/v1/tokens"
TEAM = "nemu_anno_value_team"


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.05)


@dataclass
class Listening:
    """A brain, and admission's way to ask it."""

    brain: StandingBrain
    documents: DocumentsOverHttp
    command_line: CommandLine

    async def known(self) -> dict[str, str]:
        found = whole(token_slices(await self.documents.get(TOKENS_PATH)))
        return {} if found is None else dict(found.values)

    async def until_known(self, expected: dict[str, str]) -> None:
        async def is_known() -> bool:
            return await self.known() == expected

        await until(is_known)

    async def nemutator(self, *words: str) -> tuple[int, str]:
        ran = await self.command_line("token", *words)
        return ran.code, ran.out + ran.err

    async def applied(self, value: str) -> Any:
        manifest = deployment()
        manifest["spec"]["template"]["metadata"]["annotations"] = {"team": value}
        async with self.brain.local.post("/api/v1/objects", json=manifest) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()


@contextlib.asynccontextmanager
async def listening(
    root: Path, captured: pytest.CaptureFixture[str], **settings: Any
) -> AsyncIterator[Listening]:
    async with standing_brain(root, **settings) as brain:
        where = LocalBrain(brain.directory.socket(names.BRAIN))
        proof = Proof(lambda: read_link_token(brain.directory))
        async with BrainOverHttp(where, proof=proof) as link:
            yield Listening(brain, DocumentsOverHttp(link), CommandLine(root, captured))


async def test_a_token_that_is_set_reaches_admission_and_manifests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(tmp_path / "data", capsys) as it:
        assert await it.known() == {}
        answer = await it.applied(TEAM)
        assert "the token store has no such key" in answer["warnings"][0]
        code, out = await it.nemutator("set", TEAM, "the shop")
        assert (code, out) == (ExitCode.OK, f'{TEAM}: "the shop" for an annotation\'s value\n')
        assert await it.known() == {TEAM: "the shop"}
        answer = await it.applied(TEAM)
        [edit] = answer["edits"]
        assert (edit["after"], edit["policy"]) == (["the shop"], "tokens")
        it.brain.directory.tokens.write_text(json.dumps({TEAM: "bank", "nemu_b": "x"}))
        await it.until_known({TEAM: "bank", "nemu_b": "x"})
        it.brain.directory.tokens.write_text("{")

        async def is_broken() -> bool:
            return "not read now: " in (await it.nemutator("list"))[1]

        await until(is_broken)
        listed = (await it.nemutator("list"))[1]
        assert "not JSON" in listed
        assert "bank" in listed
        assert await it.known() == {TEAM: "bank", "nemu_b": "x"}


async def test_a_token_is_tried_removed_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(tmp_path / "data", capsys) as it:
        assert (await it.nemutator("set", "nemu_label_a", "a b"))[0] == ExitCode.OK
        code, out = await it.nemutator("test", "nemu_label_a")
        assert code == ExitCode.FAILED
        assert "does not fit" in out
        assert (await it.nemutator("remove", "nemu_label_a"))[1] == "nemu_label_a: removed\n"
        assert await it.known() == {}
        code, out = await it.nemutator("test", "nemu_label_a")
        assert (code, out.splitlines()[1]) == (
            ExitCode.FAILED,
            "nemu_label_a: there is no such token",
        )
        for key, value in (("other", "x"), ("nemu_a", "x" * 5_000)):
            code, out = await it.nemutator("set", key, value)
            assert code == ExitCode.USAGE, out


async def test_a_file_that_is_named_must_be_there_and_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "named.json"
    async with listening(tmp_path / "data", capsys, tokens_file=str(path)) as it:
        assert "No such file" in (await it.nemutator("list"))[1]
        found = whole(token_slices(await it.documents.get(TOKENS_PATH)))
        assert found is not None
        assert "has not been read yet" in found.without
        path.write_text(json.dumps({"nemu_a": "1"}))
        await it.until_known({"nemu_a": "1"})
        async with it.brain.local.post(PATH, json={"key": 3}) as answer:
            assert answer.status == 400
        async with it.brain.local.get(f"{PATH}?limit=0") as answer:
            assert answer.status == 400


@dataclass
class Elsewhere:
    """A Redis that others write."""

    port: int
    password: str
    put: Callable[[str, str], object]


@pytest.fixture(params=["memory", pytest.param("real", marks=pytest.mark.e2e)])
async def elsewhere(request: pytest.FixtureRequest) -> AsyncIterator[Elsewhere]:
    if request.param == "memory":
        async with standing_redis(MemoryRedis(password="of the store")) as memory:
            yield Elsewhere(memory.port, "of the store", memory.set)
        return
    real: Redis = request.getfixturevalue("redis")
    yield Elsewhere(
        real.port, real.password.reveal(), lambda key, value: real.call("SET", key, value)
    )
    real.call("FLUSHDB")


async def test_a_token_that_changes_in_redis_counts_for_the_next_manifest_off_clusters(
    elsewhere: Elsewhere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    password = tmp_path / "password"
    password.write_text(elsewhere.password)
    elsewhere.put(TEAM, "shop")
    settings = {
        "tokens_redis": f"redis://127.0.0.1:{elsewhere.port}/0",
        "tokens_redis_password_file": str(password),
    }
    async with listening(tmp_path / "data", capsys, **settings) as it:
        await it.until_known({TEAM: "shop"})
        [edit] = (await it.applied(TEAM))["edits"]
        assert edit["after"] == ["shop"]
        elsewhere.put(TEAM, "bank")
        await it.until_known({TEAM: "bank"})
        [edit] = (await it.applied(TEAM))["edits"]
        assert (edit["before"], edit["after"]) == ([TEAM], ["bank"])
