import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_ctl.kubeconfigs.model import (
    KubeconfigError,
    Plugin,
    entry_of,
    plugin_question,
    plugin_status,
)

HOME = Path("/etc/mine/config")
OTHER = Path("/etc/other/config")


def written(name: str = "here", *, current: str | None = "here", **user: Any) -> dict[str, Any]:
    return {
        "current-context": current,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443/"}}],
        "users": [{"name": name, "user": user}],
    }


def with_cluster(**cluster: Any) -> dict[str, Any]:
    found = written()
    found["clusters"][0]["cluster"] |= cluster
    return found


def test_the_current_context_names_a_server_and_a_user() -> None:
    entry = entry_of([(HOME, written(token="t0ken"))], "")
    assert entry.server.url == "https://here:6443"
    assert entry.user.token == Secret("t0ken")


def test_of_several_files_the_first_that_says_it_counts() -> None:
    files = [(HOME, written(current="", token="first")), (OTHER, written(token="second"))]
    assert entry_of(files, "").user.token == Secret("first")
    files = [(HOME, written("a", current="a")), (OTHER, written("b", current="b"))]
    assert entry_of(files, "").server.url == "https://a:6443"
    assert entry_of(files, "b").server.url == "https://b:6443"


def test_a_path_is_relative_to_the_file_it_stands_in() -> None:
    document = with_cluster(**{"certificate-authority": "pki/ca.crt"})
    document["users"][0]["user"] = {"client-certificate": "/abs.crt", "client-key": "my.key"}
    entry = entry_of([(OTHER, document)], "")
    assert entry.server.authority == Path("/etc/other/pki/ca.crt")
    assert entry.user.certificate == Path("/abs.crt")
    assert entry.user.key == Path("/etc/other/my.key")


def test_what_is_written_into_the_file_comes_before_a_path() -> None:
    encoded = base64.b64encode(b"PEM").decode()
    entry = entry_of(
        [
            (
                HOME,
                with_cluster(
                    **{"certificate-authority": "x", "certificate-authority-data": encoded}
                ),
            )
        ],
        "",
    )
    assert entry.server.authority == Secret("PEM")


def test_lists_that_are_null_are_empty() -> None:
    document = {"current-context": "x", "contexts": None, "clusters": None, "users": None}
    with pytest.raises(KubeconfigError, match="no context 'x'"):
        entry_of([(HOME, document)], "")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({}, "no context is current"),
        (written(current="gone"), "there is no context 'gone'; it has here"),
        (with_cluster(server=""), "names no server"),
        (with_cluster(**{"certificate-authority-data": "%%%"}), "no base64"),
        ({"clusters": "s3cret"}, "is no kubeconfig: Expected"),
    ],
)
def test_what_does_not_reach_a_server_says_why(document: object, why: str) -> None:
    with pytest.raises(KubeconfigError, match=why) as refused:
        entry_of([(HOME, document)], "")
    assert "s3cret" not in str(refused.value)


SECRET = "s3cret-w0rd"
LEAVES: Any = st.one_of(st.none(), st.booleans(), st.integers(), st.just(SECRET), st.just([SECRET]))


@given(
    st.sampled_from(["clusters", "users", "contexts"]),
    st.sampled_from(
        ["server", "token", "tokenFile", "exec", "auth-provider", "client-key-data", "cluster"]
    ),
    st.recursive(LEAVES, lambda inner: st.dictionaries(st.just(SECRET), inner)),
)
def test_whatever_stands_in_a_field_no_message_quotes_it(
    where: str, field: str, value: object
) -> None:
    document = written()
    inner = {"clusters": "cluster", "users": "user", "contexts": "context"}[where]
    document[where][0][inner][field] = value
    said = ""
    try:
        said = repr(entry_of([(HOME, document)], "").user.token)
    except KubeconfigError as error:
        said = str(error)
    # The name of a cluster is no secret: it says what is missing.
    assert SECRET not in said or field == "cluster"


def plugin(**more: Any) -> Plugin:
    given_ = {"command": "get-token", "apiVersion": "client.authentication.k8s.io/v1", **more}
    return msgspec.convert(given_, Plugin)


def test_a_plugin_hears_of_the_cluster_only_when_it_asks_to() -> None:
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    server = entry_of([(HOME, with_cluster(extensions=[extension]))], "").server
    assert plugin_question(plugin(), server, interactive=False)["spec"] == {"interactive": False}
    told = plugin_question(plugin(provideClusterInfo=True), server, interactive=True)["spec"]
    assert told["cluster"] == {"server": "https://here:6443", "config": {"audience": "x"}}


def answered(status: object, version: str = "client.authentication.k8s.io/v1") -> bytes:
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status}).encode()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "no ExecCredential"),
        (b"s3cret", "no ExecCredential"),
        (answered({"token": ["s3cret"]}), "no ExecCredential"),
        (answered({"token": "s3cret"}, "v9"), "another version"),
        (answered({}), "neither a token nor a certificate"),
    ],
)
def test_a_plugin_that_answers_something_else_is_not_quoted(answer: bytes, why: str) -> None:
    with pytest.raises(KubeconfigError, match=why) as refused:
        plugin_status(plugin(), answer)
    assert "s3cret" not in str(refused.value)


def test_a_plugin_gives_a_token() -> None:
    assert plugin_status(plugin(), answered({"token": "t0ken"})).token == "t0ken"
