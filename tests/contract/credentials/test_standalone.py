"""`nemutator-agent credentials` on a machine without Vault, as a whole."""

import asyncio
import logging
import os
import sys

import pytest
from nemutator_agent.credentials.machine.stored_secrets import LARGEST_BYTES
from nemutator_common import names

from tests.contract.credentials.standalone import STORE, Machine
from tests.fakes.pod_sockets import PATIENCE_S, call


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


async def test_a_deleted_secret_is_given_to_nobody_also_after_a_restart(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2")
        path = f"{STORE}/db"
        status, gone = await call(machine.private, path, method="DELETE", **machine.token)
        assert (status, gone["version"]) == (200, 1)
        assert "hunter2" not in str(gone)
        assert (await call(machine.agent, "/v1/secret/db"))[0] == 404
        answer = await call(machine.private, path, method="DELETE", **machine.token)
        assert answer[0] == 404
    async with machine.running():
        assert (await call(machine.agent, "/v1/secret/db"))[0] == 404


async def test_who_changes_the_store_is_recorded(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with machine.running():
        await machine.set("db", "hunter2")
        await machine.set("db", "hunter3", "everybody")
        await call(machine.private, f"{STORE}/db", method="DELETE", **machine.token)
    records = [record.args for record in caplog.records if record.msg == "grant"]
    assert [
        (line[names.OPERATION], line[names.RESULT], line[names.SECRET_NAME], line[names.POD])
        for line in records
        if isinstance(line, dict)
    ] == [
        ("set", "granted", "db", f"uid {os.getuid()} nemutator secret"),
        ("set", "denied", "db", f"uid {os.getuid()} nemutator secret"),
        ("delete", "granted", "db", f"uid {os.getuid()} nemutator secret"),
    ]


async def test_without_the_link_token_the_store_is_closed(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}):
            for method in ("GET", "PUT", "DELETE"):
                status, _ = await call(machine.private, f"{STORE}/db", method=method, **headers)
                assert status == 401
            assert (await call(machine.private, STORE, **headers))[0] == 401
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


async def test_a_value_is_printed_as_files_have_it_whatever_the_terminals_encoding(
    machine: Machine,
) -> None:
    async with machine.running():
        await machine.set("db", "pässwörd")
        words = ("secret", "get", "db", "--data-dir", str(machine.directory.root))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "nemutator_ctl", *words),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        )
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert (process.returncode, out.decode()) == (0, "pässwörd")
