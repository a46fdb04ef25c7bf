"""Kubeconfigs and their plugins, as the command meets them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.kube.configuration import Access

from tests.fakes.clocks import ManualClock
from tests.hollow.kubeconfigs import JUST_NOW_S, Kubeconfig


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


async def test_a_plugins_token_is_kept_until_it_is_refused(tmp_path: Path) -> None:
    runs, program = tmp_path / "runs", tmp_path / "plugin"
    version = "client.authentication.k8s.io/v1"
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "one"}}
    program.write_text(f"#!/bin/sh\necho run >>{runs}\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    command = {"apiVersion": version, "command": str(program), "interactiveMode": "Never"}
    clock = ManualClock()
    configuration = Kubeconfig(clock, path=written(tmp_path, {"exec": command}))
    for _ in range(3):
        assert revealed(await configuration.access()) == "one"
    # Refused together with others, to which the same new token was given just now.
    await configuration.access(renew=True)
    assert runs.read_text() == "run\n"
    await clock.advance(JUST_NOW_S + 1)
    for _ in range(2):
        await configuration.access(renew=True)
    assert runs.read_text() == "run\n" * 2


async def test_a_password_is_refused_and_never_sent_as_a_token(tmp_path: Path) -> None:
    path = written(tmp_path, {"username": "alice", "password": "s3cret"})
    with pytest.raises(OperatorError, match="a user name and a password") as refused:
        await Kubeconfig(ManualClock(), path=path).access()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "[", "{}", "a: b", "\0"])
async def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(OperatorError, match=r"kubeconfig .*config: [a-zA-Z/]"):
        await Kubeconfig(ManualClock(), path=path).access()


async def test_a_certificate_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"client-certificate": "me.crt", "client-key": "me.key"})
    with pytest.raises(OperatorError, match=r"No such file .*me\.key"):
        await Kubeconfig(ManualClock(), path=path).access()
