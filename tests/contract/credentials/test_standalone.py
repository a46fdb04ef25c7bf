"""`nemutator-agent credentials` on a machine without Vault, as a whole."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_agent.app.credentials import run
from nemutator_agent.credentials.machine.stored_secrets import LARGEST_BYTES
from nemutator_agent.settings import CredentialsSettings
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token

from tests.fakes.pod_sockets import PATIENCE_S, call
from tests.testbed.running.waiting import until

STORE = "/v1/store/secrets"


class Machine:
    def __init__(self, folder: Path) -> None:
        self.directory = prepare(folder)
        renew_link_token(self.directory)
        self.agent = folder / "agent.sock"
        self.private = folder / "credentials.sock"

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {read_link_token(self.directory).reveal()}"}

    async def set(self, name: str, value: str, *rules: str) -> tuple[int, object]:
        given = {"value": value, "rules": list(rules)}
        path = f"{STORE}/{name}"
        return await call(self.private, path, method="PUT", json=given, **self.token)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Machine"]:
        stop = asyncio.Event()
        settings = CredentialsSettings(data_dir=self.directory.root, node="n1")
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(run(settings, stop))
            await asyncio.to_thread(
                until,
                lambda: self.private.exists() or running.done(),
                "it listens",
                within_s=PATIENCE_S,
            )
            try:
                yield self
            finally:
                stop.set()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "data")


async def test_a_secret_that_was_set_is_given_to_its_owner_also_after_a_restart(
    machine: Machine,
) -> None:
    async with machine.running():
        status, made = await machine.set("db", "hunter2")
        assert status == 200
        assert isinstance(made, dict)
        assert made["rules"] == [f"uid={os.getuid()}"]
        assert "value" not in made
    async with machine.running():
        one = {"name": "db", "value": "hunter2", "version": 1}
        assert await call(machine.agent, "/v1/secret/db") == (200, one)
        assert (await call(machine.agent, "/v1/whoami"))[1]["uid"] == os.getuid()


async def test_a_secret_for_others_is_refused_with_its_step(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2", f"uid={os.getuid() + 1}")
        status, document = await call(machine.agent, "/v1/secret/db")
        assert (status, document["step"]) == (403, "rule")


async def test_whatever_is_within_the_bound_can_be_kept(machine: Machine) -> None:
    # JSON writes each of these six times as long.
    value = "\x01" * LARGEST_BYTES
    async with machine.running():
        assert (await machine.set("db", value, "uid=33,exe=/usr/sbin/nginx"))[0] == 200
        _, document = await call(machine.private, f"{STORE}/db", **machine.token)
        assert document["value"] == value


async def test_lists_have_no_values_and_get_has_one(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2")
        status, listed = await call(machine.private, STORE, **machine.token)
        assert (status, [item["name"] for item in listed["items"]]) == (200, ["db"])
        assert "hunter2" not in str(listed)
        _, document = await call(machine.private, f"{STORE}/db", **machine.token)
        assert document["value"] == "hunter2"
        assert (await call(machine.private, f"{STORE}/nope", **machine.token))[0] == 404


async def test_without_the_link_token_the_store_is_closed(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}):
            for method, path in (("GET", STORE), ("GET", f"{STORE}/db"), ("PUT", f"{STORE}/db")):
                status, _ = await call(machine.private, path, method=method, **headers)
                assert status == 401
        machine.directory.link_token.write_text("")
        empty = {"Authorization": "Bearer "}
        assert (await call(machine.private, STORE, **empty))[0] == 401
        # Probes need none.
        assert (await call(machine.private, "/readyz"))[0] == 200


async def test_what_cannot_be_kept_is_refused_without_showing_it(machine: Machine) -> None:
    async with machine.running():
        for name, value, rules in (
            (".hidden", "hunter2", []),
            ("db", "hunter2" * 20_000, []),
            ("db", "hunter2", ["everybody"]),
        ):
            status, document = await machine.set(name, value, *rules)
            assert status == 400
            assert "hunter2" not in str(document)
        path = f"{STORE}/db"
        strange: list[object] = [None, [], {"value": 1}, {"value": "x", "more": 1}]
        for given in strange:
            answer = await call(machine.private, path, method="PUT", json=given, **machine.token)
            assert answer[0] == 400
