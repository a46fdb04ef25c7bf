"""`nemutator-agent credentials` on a machine without Kubernetes that has a Vault, as a whole."""

import asyncio
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_agent.credentials.machine.login_files import LARGEST_BYTES
from nemutator_agent.credentials.machine.vault_reading import PART
from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError

from tests.contract.credentials.places import eventually
from tests.contract.credentials.standalone import STORE, Machine
from tests.contract.credentials.test_machine_logins import PATH, FakePlace, RealPlace
from tests.fakes.pod_sockets import call
from tests.fakes.vaults import FakeVault
from tests.testbed.parts import vault as testbed


def written(path: Path, content: str, mode: int = 0o400) -> str:
    path.unlink(missing_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def is_ready(machine: Machine) -> bool:
    return asyncio.run(call(machine.private, "/readyz"))[0] == 200


def gone(path: Path) -> None:
    path.unlink()


@pytest.fixture
def fake() -> Iterator[FakeVault]:
    with FakeVault() as fake:
        FakePlace(fake)
        yield fake


@pytest.fixture
def secret_id(tmp_path: Path) -> Path:
    return Path(written(tmp_path / "secret-id", "one\n"))


@pytest.fixture
def with_app_role(tmp_path: Path, fake: FakeVault, secret_id: Path) -> Machine:
    return Machine(
        tmp_path / "data",
        vault_address=fake.url,
        vault_auth_method="approle",
        vault_role_id_file=written(tmp_path / "role-id", "the-role\n", 0o644),
        vault_secret_id_file=str(secret_id),
        check_s=1.0,
        checks_per_minute=6000.0,
        fresh_s=0.0,
    )


@pytest.fixture
def token_file(tmp_path: Path, fake: FakeVault) -> Path:
    fake.give("hvs.operator", "machine")
    return Path(written(tmp_path / "token", "hvs.operator\n"))


@pytest.fixture
def with_token(tmp_path: Path, fake: FakeVault, token_file: Path) -> Machine:
    return Machine(
        tmp_path / "data",
        vault_address=fake.url,
        vault_auth_method="token",
        vault_token_file=str(token_file),
    )


async def asked(machine: Machine, name: str = "db") -> tuple[int, Any]:
    return await call(machine.agent, f"/v1/secret/{name}")


async def test_a_rule_lets_callers_have_what_vault_has(
    with_app_role: Machine, fake: FakeVault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with with_app_role.running() as machine:
        status, made = await machine.set_in_vault("db", f"{PATH}#password")
        assert (status, made["vault"]) == (200, f"{PATH}#password")  # type: ignore[index]
        await machine.set_in_vault("theirs", PATH, f"uid={os.getuid() + 1}")
        await machine.set("own", "kept-here")
        assert await asked(machine) == (200, {"name": "db", "value": "x", "version": 1})
        assert (await asked(machine, "own"))[1]["value"] == "kept-here"
        assert (await asked(machine, "theirs"))[1]["step"] == "rule"
        _, found = await call(machine.private, f"{STORE}/db", **machine.token)
        assert found["value"] == "x"
        _, listed = await call(machine.private, STORE, **machine.token)
        assert [one["vault"] for one in listed["items"]] == [f"{PATH}#password", "", PATH]
    assert fake.calls["login"] == 1
    shown = caplog.text + json.dumps([str(record.args) for record in caplog.records])
    assert not [word for word in ("the-role", "hvs.") if word in shown]


async def test_its_token_outlives_a_restart_and_a_secret_id_that_is_gone(
    with_app_role: Machine, fake: FakeVault, secret_id: Path
) -> None:
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        assert (await asked(machine))[0] == 200
    gone(secret_id)
    async with with_app_role.running() as machine:
        assert (await asked(machine))[0] == 200
    assert (fake.calls["login"], fake.revoked) == (1, [])


async def test_a_token_that_another_has_replaced_is_revoked(
    with_app_role: Machine, fake: FakeVault
) -> None:
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        assert (await asked(machine))[0] == 200
        (first,) = fake.tokens
    # Another role: what the last run has left is nobody's.
    fake.app_roles["other"] = ("machine", {"one"})
    written(Path(with_app_role.settings["vault_role_id_file"]), "other")
    with_app_role.settings["orphans_s"] = 1.0
    async with with_app_role.running() as machine:
        assert (await asked(machine))[0] == 200
        await eventually(lambda: fake.revoked == [first], "it is revoked")


async def test_an_operators_token_is_used_and_never_revoked(
    with_token: Machine, fake: FakeVault
) -> None:
    for _ in range(2):
        async with with_token.running() as machine:
            await machine.set_in_vault("db", f"{PATH}#password")
            assert (await asked(machine))[1]["value"] == "x"
    assert (fake.calls["lookup"], fake.calls["login"]) == (2, 0)
    assert fake.revoked == []
    assert list(fake.tokens) == ["hvs.operator"]
    assert b"hvs.operator" not in (with_token.directory.root / "ledger").read_bytes()


async def test_another_token_in_the_file_is_taken_once_the_first_has_ended(
    with_token: Machine, fake: FakeVault, token_file: Path
) -> None:
    with_token.settings["fresh_s"] = 0.0
    async with with_token.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        assert (await asked(machine))[0] == 200
        del fake.tokens["hvs.operator"]
        fake.give("hvs.second", "machine")
        written(token_file, "hvs.second")
        assert (await asked(machine))[0] == 200
    assert fake.revoked == []


def granted(caplog: pytest.LogCaptureFixture, operation: str) -> list[tuple[object, object]]:
    """Who had it, and the name of the secret."""
    lines = [record.args for record in caplog.records if record.msg == "grant"]
    return [
        (line[names.POD], line[names.SECRET_NAME])
        for line in lines
        if isinstance(line, dict)
        and (line[names.OPERATION], line[names.RESULT]) == (operation, "granted")
    ]


def rotated(caplog: pytest.LogCaptureFixture) -> bool:
    return ("nemutator-agent", "db") in granted(caplog, "rotate")


async def test_a_rotation_reaches_watchers_and_the_audit(
    with_app_role: Machine, fake: FakeVault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        assert (await asked(machine))[1]["version"] == 1
        fake.write(PATH, {"password": "y"})
        await eventually(lambda: rotated(caplog), "the change is seen")
        assert await asked(machine) == (200, {"name": "db", "value": "y", "version": 2})


@pytest.mark.e2e
async def test_a_real_vault_is_read_followed_and_left_in_order(
    tmp_path: Path, vault: testbed.Vault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    place = RealPlace(vault)
    proof = place.app_role()
    settings: dict[str, Any] = {
        "vault_address": vault.url,
        "vault_auth_method": "approle",
        "vault_role_id_file": written(tmp_path / "role-id", proof.role_id.reveal(), 0o644),
        "vault_secret_id_file": written(tmp_path / "secret-id", proof.secret_id.reveal()),
        "check_s": 1.0,
        "checks_per_minute": 6000.0,
    }
    real = Machine(tmp_path / "data", **settings)
    async with real.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        first = (await asked(machine))[1]["version"]
        vault.call("POST", "secret/data/machine/db", {"data": {"password": "x", "more": "y"}})
        vault.call("POST", "secret/data/machine/db", {"data": {"password": "z"}})
        await eventually(lambda: rotated(caplog), "the change is seen")
        answer = {"name": "db", "value": "z", "version": first + 2}
        assert await asked(machine) == (200, answer)
        vault.call("POST", "secret/data/machine/db", {"data": {"password": "x"}})
    # Its secret id was good for one login.
    async with real.running() as machine:
        assert (await asked(machine))[1]["value"] == "x"
    given = place.token()
    settings |= {
        "vault_auth_method": "token",
        "vault_token_file": written(tmp_path / "token", given.reveal()),
        "orphans_s": 1.0,
    }
    with_token = Machine(tmp_path / "data", **settings)
    async with with_token.running() as machine:
        assert (await asked(machine))[1]["value"] == "x"
        await eventually(lambda: granted(caplog, "revoke"), "the AppRole's token is revoked")
    assert vault.call("GET", "auth/token/lookup-self", token=given)["data"]["ttl"] > 0


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o400)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


Breaks = Callable[[Path], object]


@pytest.mark.parametrize(
    ("breaks", "why", "remedy"),
    [
        (gone, "is not there", "write a secret id to it, with mode 0400"),
        (lambda path: written(path, ""), "is empty", "write a secret id to it"),
        (lambda path: written(path, " \n"), "is empty", "write a secret id to it"),
        (lambda path: written(path, "one two"), "one word", "and nothing else"),
        (lambda path: written(path, "\x00\x01"), "one word", "and nothing else"),
        (lambda path: written(path, "\u00e4"), "one word", "and nothing else"),
        (lambda path: written(path, "x" * (LARGEST_BYTES + 1)), "one word", "and nothing else"),
        (lambda path: written(path, "one", 0o440), "mode 0440: others may read it", "chmod 0400"),
        (lambda path: written(path, "one", 0o604), "mode 0604: others may read it", "chmod 0400"),
        (folder, "is no file", "regular file"),
        (pipe, "is no file", "regular file"),
    ],
)
async def test_a_file_that_cannot_be_trusted_is_refused_with_step_and_remedy(
    with_app_role: Machine,
    fake: FakeVault,
    secret_id: Path,
    breaks: Breaks,
    why: str,
    remedy: str,
) -> None:
    breaks(secret_id)
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        status, document = await asked(machine)
        assert (status, document["step"]) == (503, "token")
        assert why in document["error"]
        assert remedy in document["remedy"]
        await eventually(lambda: not is_ready(machine), "it is not ready")
        _, ready = await call(machine.private, "/readyz")
        assert f"{PART}: no login to Vault" in str(ready)
        await machine.set("own", "kept-here")
        assert (await asked(machine, "own"))[0] == 200
    assert fake.calls["login"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_a_file_of_another_user_is_refused(with_app_role: Machine, secret_id: Path) -> None:
    os.chown(secret_id, 12345, -1)
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        assert "belongs to uid 12345" in (await asked(machine))[1]["error"]


async def test_a_file_that_is_mended_is_read_without_a_restart(
    with_app_role: Machine, secret_id: Path
) -> None:
    gone(secret_id)
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        await eventually(lambda: not is_ready(machine), "it is not ready")
        written(secret_id, "one")
        await eventually(lambda: is_ready(machine), "it is logged in")
        assert (await asked(machine))[0] == 200


async def test_vaults_own_refusals_say_what_to_do(
    with_app_role: Machine, fake: FakeVault, secret_id: Path
) -> None:
    written(secret_id, "wrong")
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        await machine.set_in_vault("denied", "secret/others/db")
        status, document = await asked(machine)
        assert (status, document["step"]) == (403, "login")
        assert "invalid role or secret ID" in document["error"]
        assert str(secret_id) in document["error"]
        assert "wrong" not in str(document)
    written(secret_id, "one")
    async with with_app_role.running() as machine:
        status, document = await asked(machine, "denied")
        assert (status, document["step"]) == (403, "vault")
        assert "to this machine" in document["error"]
        await machine.set_in_vault("nothing", "secret/machine/db#nope")
        assert (await asked(machine, "nothing"))[1]["step"] == "key"


async def test_while_vault_is_sealed_the_machines_own_secrets_are_given(
    with_app_role: Machine, fake: FakeVault
) -> None:
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
        await machine.set("own", "kept-here")
        assert (await asked(machine))[0] == 200
        fake.sealed = True
        status, document = await asked(machine)
        assert (status, document["stale"]) == (200, True)
        assert (await asked(machine, "own"))[0] == 200


@pytest.mark.parametrize(
    "given",
    [{"vault": "nonsense"}, {"vault": PATH, "value": "x"}, {}, {"vault": PATH, "in_file": True}],
)
async def test_what_is_no_place_in_vault_is_not_kept(
    with_app_role: Machine, given: dict[str, object]
) -> None:
    async with with_app_role.running() as machine:
        path = f"{STORE}/db"
        answer = await call(machine.private, path, method="PUT", json=given, **machine.token)
        assert answer[0] == 400
        assert (await asked(machine))[0] == 404


async def test_without_a_vault_such_a_secret_says_what_to_set(
    with_app_role: Machine, tmp_path: Path
) -> None:
    async with with_app_role.running() as machine:
        await machine.set_in_vault("db", f"{PATH}#password")
    async with Machine(tmp_path / "data").running() as machine:
        status, document = await asked(machine)
        assert (status, document["step"]) == (503, "vault")
        assert "credentials.vault_address" in document["remedy"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"vault_role_id_file": ""}, "set credentials.vault_role_id_file"),
        ({"vault_secret_id_file": ""}, "set credentials.vault_secret_id_file"),
        ({"vault_auth_method": "token"}, "set credentials.vault_token_file"),
        ({"vault_role_id_file": "/nowhere/role-id"}, "write the role id to it"),
    ],
)
async def test_settings_that_do_not_say_how_to_log_in_end_the_process(
    with_app_role: Machine, changes: dict[str, str], why: str
) -> None:
    with_app_role.settings.update(changes)
    with pytest.raises(ExceptionGroup) as raised:
        async with with_app_role.running():
            pass
    (error,) = raised.value.exceptions
    assert isinstance(error, OperatorError)
    assert why in error.remedy
    assert error.code is ExitCode.SETTINGS


async def test_a_role_id_that_others_may_write_is_refused(with_app_role: Machine) -> None:
    written(Path(with_app_role.settings["vault_role_id_file"]), "the-role", 0o664)
    with pytest.raises(ExceptionGroup) as raised:
        async with with_app_role.running():
            pass
    assert "others may write it" in str(raised.value.exceptions[0])
