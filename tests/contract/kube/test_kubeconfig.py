"""Kubeconfigs and their plugins, read by the official package in a process of its own."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.kube.configuration import Access

from tests.fakes.clocks import ManualClock
from tests.kubeconfig import Kubeconfig

pytestmark = pytest.mark.slow


def written(folder: Path, user: dict[str, Any], **cluster: object) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://server:6443/", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(json.dumps(config))
    return path


def plugin(folder: Path, script: str) -> dict[str, Any]:
    """A user whose credentials come from a program."""
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\necho run >>{folder}/runs\n{script}\n")
    program.chmod(0o755)
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(program)}
    return {"exec": {**command, "interactiveMode": "Never"}}


def credential(token: str, expires: str) -> str:
    status = {"token": token, "expirationTimestamp": expires}
    kind = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    return f"echo '{json.dumps({**kind, 'status': status})}'"


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def revealed(access: Access) -> str:
    assert access.token is not None
    return access.token.reveal()


async def test_a_token_and_an_embedded_ca(tmp_path: Path) -> None:
    ca = base64.b64encode(b"the CA").decode()
    path = written(tmp_path, {"token": "t0ken"}, **{"certificate-authority-data": ca})
    access = await Kubeconfig(ManualClock(), path=path).access()
    assert (access.server, access.ca, revealed(access)) == (
        "https://server:6443",
        "the CA",
        "t0ken",
    )
    assert not access.insecure


async def test_a_plugins_token_is_kept_until_it_expires(tmp_path: Path) -> None:
    clock = ManualClock(1_700_000_000)  # 2023-11-14T22:13:20Z
    path = written(tmp_path, plugin(tmp_path, credential("one", "2023-11-14T23:13:20Z")))
    configuration = Kubeconfig(clock, path=path)
    for _ in range(3):
        assert revealed(await configuration.access()) == "one"
    assert runs(tmp_path) == 1
    await clock.advance(3600 - 30)
    await configuration.access()
    assert runs(tmp_path) == 2
    await clock.advance(6)
    await configuration.access(renew=True)
    assert runs(tmp_path) == 3


async def test_a_plugin_that_hangs_is_ended(tmp_path: Path) -> None:
    path = written(tmp_path, plugin(tmp_path, "sleep 600"))
    with pytest.raises(OperatorError, match=r"did not answer in 1 s"):
        await Kubeconfig(ManualClock(), path=path, plugin_s=1).access()


async def test_a_plugin_that_fails_is_not_taken_for_no_credentials(tmp_path: Path) -> None:
    path = written(tmp_path, plugin(tmp_path, "echo denied >&2; exit 1"))
    with pytest.raises(OperatorError, match="process returned 1"):
        await Kubeconfig(ManualClock(), path=path).access()


async def test_a_password_is_refused_and_never_sent_as_a_token(tmp_path: Path) -> None:
    path = written(tmp_path, {"username": "alice", "password": "s3cret"})
    with pytest.raises(OperatorError, match="a user name and a password") as refused:
        await Kubeconfig(ManualClock(), path=path).access()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "[", "{}", "a: b", "\0"])
async def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(OperatorError, match=r"kubeconfig .*config: [a-zA-Z]"):
        await Kubeconfig(ManualClock(), path=path).access()


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="no such file"):
        await Kubeconfig(ManualClock(), path=tmp_path / "none").access()
