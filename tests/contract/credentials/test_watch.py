"""`GET /v1/watch` and the files of secrets, on a machine without Vault, with the real process."""

import asyncio
import contextlib
import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from nemutator_agent.credentials.connection_peer import accept_peer
from nemutator_agent.credentials.ports import ConnectedPeer
from nemutator_agent.credentials.rotation.changes import MOST
from nemutator_agent.credentials.rotation.watch_api import MOST_EACH, WatchApi
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer

from tests.contract.credentials.standalone import STORE, Machine
from tests.fakes.brokers import FRESH_S
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.pod_sockets import PATIENCE_S, Node, call
from tests.fakes.process import fake_process


class Watch:
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def line(self) -> dict[str, Any]:
        line: dict[str, Any] = json.loads(await self._answer.content.readline())
        return line

    async def ended(self) -> None:
        with contextlib.suppress(aiohttp.ClientPayloadError):
            while await self._answer.content.readline():
                pass


@contextlib.asynccontextmanager
async def watching(path: Path, *, after: int | None = None) -> AsyncIterator[Watch]:
    query = "" if after is None else f"?after={after}"
    async with (
        asyncio.timeout(PATIENCE_S),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path))) as session,
        session.get(f"http://agent/v1/watch{query}") as answer,
    ):
        assert (answer.status, answer.content_type) == (200, "application/x-ndjson")
        yield Watch(answer)


async def test_a_set_wakes_a_watch_and_has_changed_the_file(machine: Machine) -> None:
    async with machine.running():
        file = await set_in_file(machine, "db", "one")
        assert file.read_text() == "one"
        assert stat.S_IMODE(file.stat().st_mode) == 0o400
        async with watching(machine.agent) as watch:
            begun = (await watch.line())["sequence"]
            await machine.set("db", "two")
            assert await watch.line() == {"name": "db", "version": 2, "sequence": begun + 1}
            assert file.read_text() == "two"


async def test_a_watch_goes_on_where_it_was_cut_off(machine: Machine) -> None:
    async with machine.running():
        async with watching(machine.agent) as watch:
            seen = (await watch.line())["sequence"]
        await machine.set("db", "one")
        async with watching(machine.agent, after=seen) as watch:
            assert await watch.line() == {"sequence": seen}
            assert (await watch.line())["name"] == "db"
    async with machine.running(), watching(machine.agent, after=seen) as watch:
        assert (await watch.line())["missed"] is True


async def test_a_secret_of_others_changes_unheard(machine: Machine) -> None:
    async with machine.running(), watching(machine.agent) as watch:
        await watch.line()
        await machine.set("theirs", "x", f"uid={os.getuid() + 1}")
        assert "name" not in await watch.line()
        await machine.set("mine", "x")
        assert (await watch.line())["name"] == "mine"


async def test_the_end_of_the_process_does_not_wait_for_watches(machine: Machine) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with machine.running():
            watch = await stack.enter_async_context(watching(machine.agent))
            await watch.line()
        await watch.ended()


async def test_one_user_has_a_bounded_number_of_watches(machine: Machine) -> None:
    async with machine.running(), contextlib.AsyncExitStack() as stack:
        for _ in range(MOST_EACH):
            await (await stack.enter_async_context(watching(machine.agent))).line()
        status, refusal = await call(machine.agent, "/v1/watch")
        assert (status, refusal["step"]) == (429, "watch")
        assert (await call(machine.agent, "/v1/whoami"))[0] == 200


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=", "after=1&more=1", "x=1"])
async def test_a_query_that_is_not_understood_is_refused(machine: Machine, query: str) -> None:
    async with machine.running():
        status, refusal = await call(machine.agent, f"/v1/watch?{query}")
        assert (status, refusal["step"]) == (400, "query")


async def test_a_rule_that_a_file_cannot_hold_is_refused(machine: Machine) -> None:
    async with machine.running():
        given = {"value": "x", "rules": ["exe=/usr/bin/app"], "in_file": True}
        status, refusal = await put(machine, "db", given)
        assert (status, "for one user" in refusal["error"]) == (400, True)
        assert not (machine.directory.root / "files").exists()


async def test_files_follow_a_restart_and_a_delete(machine: Machine) -> None:
    async with machine.running():
        file = await set_in_file(machine, "db", "one")
        inode = file.stat().st_ino
        await set_in_file(machine, "lost", "x")
        (machine.directory.root / "files" / "lost").unlink()
    async with machine.running():
        assert file.stat().st_ino == inode, "a restart is no change"
        assert (machine.directory.root / "files" / "lost").read_text() == "x"
        await call(machine.private, f"{STORE}/db", method="DELETE", **machine.token)
        assert sorted(path.name for path in file.parent.iterdir()) == ["lost"]


async def test_what_lies_in_the_place_of_a_file_is_replaced_and_not_followed(
    machine: Machine, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("untouched")
    async with machine.running():
        file = await set_in_file(machine, "db", "one")
        file.unlink()
        file.symlink_to(target)
        await machine.set("db", "two")
    assert (file.read_text(), target.read_text()) == ("two", "untouched")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
async def test_the_file_belongs_to_the_user_of_the_rule(machine: Machine) -> None:
    async with machine.running():
        file = await set_in_file(machine, "db", "x", "uid=65534")
        found = file.stat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o400)
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o711


async def test_a_pod_hears_of_what_it_declares(tmp_path: Path) -> None:
    node = Node(tmp_path)
    state = node.setup.vault.state
    state.write("secret/app/db", {"password": "one"})
    node.setup.allow("secret/app/db")
    async with node.running():
        where = await node.publish("v1", declared={"secret.db": "secret/app/db"})
        async with watching(where) as watch:
            assert "sequence" in await watch.line()
            assert (await call(where, "/v1/secret/db"))[0] == 200
            state.write("secret/app/db", {"password": "two"})
            # The clock of this node stands still but for this: until the path is read again.
            async with asyncio.TaskGroup() as tasks:
                change = tasks.create_task(watch.line())
                while not change.done():
                    await node.setup.clock.advance(FRESH_S / 4)
                    await asyncio.sleep(0)
            assert (change.result()["name"], change.result()["version"]) == ("db", 2)
            assert node.setup.grants.of("rotate") == ["granted"]
        assert (await call(node.private, "/v1/publications/v1", method="DELETE"))[0] == 204
        assert not where.exists()


class Everybody:
    """A `CallerHandler` that lets everybody hear of everything."""

    def __init__(self, *, sign_of_life_s: float = PATIENCE_S) -> None:
        self.changes = ChangeFeed(ManualClock(), sign_of_life_s=sign_of_life_s)

    def admit(self, peer: ConnectedPeer) -> Any:
        return self

    def may_watch(self, name: str) -> bool:
        return True


@contextlib.asynccontextmanager
async def serving(
    folder: Path,
    handler: Everybody,
    *,
    meter: MemoryMeter | None = None,
    request_s: float = PATIENCE_S,
    read_s: float = PATIENCE_S,
) -> AsyncIterator[Path]:
    process = fake_process(meter=meter)
    path = folder / "agent.sock"
    server = HttpServer(
        process=process,
        name="test",
        address=UnixAddress(path),
        routes=WatchApi(handler, process, most=MOST_EACH, read_s=read_s).routes(),
        limits=Limits(request_s=request_s),
        accept_peer=accept_peer,
    )
    await server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.run())
        yield path
        running.cancel()


async def test_a_watcher_who_does_not_read_is_dropped_and_counted(tmp_path: Path) -> None:
    handler = Everybody()
    for number in range(MOST):
        handler.changes.announce(f"{number:0>60}", 1)
    counted = asyncio.Event()
    meter = MemoryMeter(changed=counted.set)
    async with (
        asyncio.timeout(PATIENCE_S),
        serving(tmp_path, handler, meter=meter, read_s=0.1) as path,
    ):
        with socket.socket(socket.AF_UNIX) as idle:
            idle.connect(os.fspath(path))
            first = handler.changes.log.newest - MOST
            idle.send(f"GET /v1/watch?after={first} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            while not meter.value(names.WATCHERS_DROPPED, reason="slow"):
                counted.clear()
                await counted.wait()


async def test_a_watch_may_last_longer_than_any_answer(tmp_path: Path) -> None:
    request_s = 8.0
    handler = Everybody(sign_of_life_s=0.05)
    async with serving(tmp_path, handler, request_s=request_s) as path, watching(path) as watch:
        over = asyncio.get_running_loop().time() + 1.2 * request_s
        while asyncio.get_running_loop().time() < over:
            assert "sequence" in await watch.line()


async def set_in_file(machine: Machine, name: str, value: str, *rules: str) -> Path:
    given = {"value": value, "rules": list(rules), "in_file": True}
    status, made = await put(machine, name, given)
    assert status == 200
    return Path(made["file"])


async def put(machine: Machine, name: str, given: object) -> tuple[int, Any]:
    path = f"{STORE}/{name}"
    return await call(machine.private, path, method="PUT", json=given, **machine.token)
