"""Our reader of kubeconfigs beside that of the official package, on the same files."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret
from nemutator_ctl.cluster_access import ClusterAccess, ClusterChoice
from nemutator_ctl.kubeconfigs.files import credentials_of, entry_in
from nemutator_ctl.kubeconfigs.model import KubeconfigError, Pem

from tests.contract.command_line.package_kubeconfigs import read_by_package

pytestmark = pytest.mark.slow


def plugin(folder: Path, status: dict[str, Any], code: int = 0) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    answer = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    program = folder / "plugin"
    program.write_text(
        f"#!/bin/sh\ntest -n \"$KUBERNETES_EXEC_INFO\" || exit 7\necho '{answer}'\nexit {code}\n"
    )
    program.chmod(0o755)
    return {"exec": {"apiVersion": version, "command": str(program), "interactiveMode": "Never"}}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def identity_token(expires: int) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'exp': expires, 'pad': ''})}.x"


USERS: dict[str, dict[str, Any]] = {
    "nobody": {},
    "a token": {"token": "t0ken"},
    "a token in a file": {"tokenFile": "token"},
    "a certificate in files": {"client-certificate": "me.crt", "client-key": "me.key"},
    "a certificate in it": {"client-certificate-data": b64("CRT"), "client-key-data": b64("KEY")},
    "a certificate and a token": {
        "client-certificate": "me.crt",
        "client-key": "me.key",
        "token": "t",
    },
    "a plugin with a token": {"plugin": {"token": "from-plugin"}},
    "a plugin with a certificate": {
        "plugin": {"clientCertificateData": "CRT", "clientKeyData": "KEY"}
    },
    "a token and a plugin": {"token": "t0ken", "plugin": {"token": "from-plugin"}},
    "OpenID Connect": {
        "auth-provider": {"name": "oidc", "config": {"id-token": identity_token(4_000_000_000)}}
    },
}
CLUSTERS: dict[str, dict[str, Any]] = {
    "bare": {},
    "an authority in a file": {"certificate-authority": "ca.crt"},
    "an authority in it": {"certificate-authority-data": b64("the CA")},
    "without proof": {"insecure-skip-tls-verify": True},
    "another name": {"tls-server-name": "kubernetes", "server": "https://10.0.0.1:6443/k8s/c-1/"},
}


def laid(folder: Path, user: dict[str, Any], cluster: dict[str, Any]) -> Path:
    for name in ("ca.crt", "me.crt", "me.key", "token"):
        (folder / name).write_text(f"content-of-{name}\n" if name != "token" else "filed-token")
    if (status := user.get("plugin")) is not None:
        user = {key: value for key, value in user.items() if key != "plugin"}
        user |= plugin(folder, status)
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://server:6443/", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(json.dumps(document))
    return path


def content(pem: Pem | None) -> str | None:
    return pem.reveal() if isinstance(pem, Secret) else pem.read_text() if pem else None


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_both_readers_find_the_same(user: str, cluster: str, tmp_path: Path) -> None:
    path = laid(tmp_path, USERS[user], CLUSTERS[cluster])
    theirs = read_by_package(path)
    assert not theirs.problem
    entry = entry_in((path,), "")
    ours = credentials_of(entry, (path,), "")
    assert entry.server.url == theirs.server
    assert content(entry.server.authority) == theirs.ca
    assert (entry.server.name or None) == theirs.server_name
    assert entry.server.is_insecure == theirs.insecure
    assert (ours.token.reveal() if ours.token else None) == theirs.token
    assert content(ours.certificate) == theirs.client_certificate
    assert content(ours.key) == theirs.client_key


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"tokenFile": "none"}, "No such file"),
        ({"exec": {"apiVersion": "v1", "command": "no-such-plugin"}}, "does not run"),
        ({"as": "root", "token": "t0ken"}, "speaks as somebody else"),
        ({"auth-provider": {"name": "unknown"}}, "auth-provider"),
    ],
)
def test_a_user_of_no_use_says_why(user: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = laid(tmp_path, user, {})
    with pytest.raises(KubeconfigError, match=why):
        credentials_of(entry_in((path,), ""), (path,), "")


def test_whose_sign_in_has_expired_is_told_to_sign_in_again(tmp_path: Path) -> None:
    path = laid(tmp_path, plugin(tmp_path, {"token": "x"}, code=1), {})
    with pytest.raises(OperatorError) as refused:
        ClusterAccess(ClusterChoice(path, "", "nemutator", ""))
    assert "ended with exit code 1" in refused.value.what
    assert refused.value.remedy.startswith("sign in again")


def test_a_plugin_that_fails_is_not_taken_for_no_credentials(tmp_path: Path) -> None:
    path = laid(tmp_path, plugin(tmp_path, {"token": "x"}, code=1), {})
    with pytest.raises(KubeconfigError, match="exit code 1"):
        credentials_of(entry_in((path,), ""), (path,), "")
