"""`nemutator up` as it stands: what it serves, to whom, and what strangers get from it."""

import contextlib
import json
import os
import random
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import yaml

from tests.e2e.standing import Standing, standing
from tests.e2e.talking import PATIENCE_S, Address, Answer, ask, connected, counted


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    # Every line that any of its processes has to say: what must be in none of them is looked for.
    with standing(tmp_path_factory.mktemp("up"), "--children-log-level", "debug") as up:
        yield up


def opened(up: Standing, link: str) -> Answer:
    parts = urlsplit(link)
    assert (parts.hostname, parts.port) == up.console
    return ask(up.console, f"{parts.path}?{parts.query}")


@pytest.fixture
def cookie(up: Standing) -> str:
    return opened(up, up.another_link()).headers["Set-Cookie"].partition(";")[0]


def test_the_printed_link_opens_the_console_once(up: Standing) -> None:
    first = opened(up, up.link)
    assert (first.status, first.headers["Location"]) == (303, "/")
    cookie = first.headers["Set-Cookie"].partition(";")[0]
    assert b"<script" in ask(up.console, "/", {"Cookie": cookie}).body
    shown = ask(up.console, "/api/v1/topology", {"Cookie": cookie}).document
    assert shown["nodes"][0]["processes"]
    assert opened(up, up.link).status == 403


@pytest.mark.parametrize("path", ["/", "/api/v1/topology", "/api/v1/console-links", "/metrics"])
def test_nothing_is_shown_without_a_session(up: Standing, path: str) -> None:
    assert ask(up.console, path).status == 401
    assert ask(up.console, path, {"Cookie": f"nemutator-{up.console[1]}=guess"}).status == 401


def test_a_wrong_host_and_a_foreign_origin_are_refused(up: Standing, cookie: str) -> None:
    session = {"Cookie": cookie}
    rebound = ask(up.console, "/api/v1/topology", session | {"Host": "evil.example"})
    assert (rebound.status, rebound.document["error"]) == (403, "wrong host")
    foreign = ask(up.console, "/", session | {"Origin": "http://evil.example"}, method="POST")
    assert (foreign.status, foreign.document["error"]) == (403, "wrong origin")
    assert counted(up.socket("brain"), "nemutator_console_refused_total", reason="host") == 1
    assert counted(up.socket("brain"), "nemutator_console_refused_total", reason="origin") == 1


@pytest.mark.parametrize("token", ["", "Bearer ", "Bearer guess", "Basic Z3Vlc3M="])
def test_a_local_caller_needs_the_link_token(up: Standing, token: str) -> None:
    for method, path in (
        ("GET", "/api/v1/topology"),
        ("POST", "/api/v1/console-links"),
        ("POST", "/uplink/v1/reports"),
    ):
        answer = ask(up.socket("brain"), path, {"Authorization": token}, method=method)
        assert answer.status == 401
        assert answer.document["remedy"]


def test_topology_comes_as_table_json_and_yaml(up: Standing) -> None:
    table = up.run("topology")
    assert table.code == 0, table.stderr
    assert "NAME" in table.stdout
    assert os.uname().nodename in table.stdout
    document = json.loads(up.run("topology", "-o", "json").stdout)
    same = yaml.safe_load(up.run("topology", "-o", "yaml").stdout)
    assert document["kind"] == same["kind"] == "Topology"
    pids = {process["pid"] for process in document["nodes"][0]["processes"]}
    assert {up.process.pid, up.children()["observe"]} <= pids
    assert {node["name"] for node in same["nodes"]} == {os.uname().nodename}


def workloads(up: Standing, *arguments: str) -> list[dict[str, object]]:
    ran = up.run("topology", "-o", "json", *arguments)
    assert ran.code == 0, ran.stderr
    (node,) = json.loads(ran.stdout)["nodes"]
    listed: list[dict[str, object]] = node["workloads"]
    return listed


def test_topology_is_narrowed_by_namespace_and_labels(up: Standing) -> None:
    assert {one["namespace"] for one in workloads(up)} >= {"/"}
    only = workloads(up, "-n", "/")
    assert {str(one["namespace"]) for one in only} == {"/"}
    assert workloads(up, "-n", "nowhere") == []
    roots = workloads(up, "-l", "kind=root")
    assert {one["kind"] for one in roots} == {"root"}
    others = workloads(up, "-l", "kind!=root")
    assert others
    assert "root" not in {one["kind"] for one in others}
    wrong = up.run("topology", "-l", "=,=")
    assert wrong.code == 2
    assert "remedy:" in wrong.stderr


@pytest.mark.parametrize("role", ["brain", "observe"])
def test_operations_are_on_both_sockets(up: Standing, role: str) -> None:
    assert ask(up.socket(role), "/healthz").status == 200
    assert ask(up.socket(role), "/readyz").status == 200
    assert "nemutator_http_requests_total" in ask(up.socket(role), "/metrics").text


def test_what_lies_in_the_data_directory_is_private(up: Standing) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(up.data_dir) == 0o700
    assert mode(up.data_dir / "link-token") == 0o600
    for database in up.data_dir.glob("nemutator.db*"):
        assert mode(database) == 0o600
    assert mode(up.socket("brain")) == 0o600


def connections(up: Standing, kind: str) -> list[Any]:
    found = list[Any]()
    for pid in up.family():
        # What a process has asked for a moment, like the version of a tool, may have ended since.
        with contextlib.suppress(psutil.NoSuchProcess):
            found += psutil.Process(pid).net_connections(kind)
    return found


def test_the_page_listens_on_loopback_and_all_else_on_unix_sockets_in_that_directory(
    up: Standing,
) -> None:
    inet = connections(up, "inet")
    assert [one.laddr for one in inet if one.status == psutil.CONN_LISTEN] == [up.console]
    assert {one.laddr for one in inet} == {up.console}, "it calls somebody"
    # Those that were accepted bear the path of the listener.
    named = [str(one.laddr) for one in connections(up, "unix")]
    unix = {Path(name) for name in named if name}
    assert {path.name for path in unix} >= {"agent.sock", "brain.sock", "observe.sock"}
    assert {path.parent for path in unix} == {up.data_dir}


def shown_of(pid: int) -> bytes:
    """What the kernel shows of it to others; nothing of one that has ended since, like the version of a tool."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return b"".join(Path(f"/proc/{pid}/{file}").read_bytes() for file in ("cmdline", "environ"))
    return b""


def test_keys_and_tokens_are_told_to_nobody_else(up: Standing, cookie: str) -> None:
    asked = up.another_link()
    opened(up, asked)
    # All of them, after each was used.
    printed_key = up.link.partition("key=")[2]
    other_key = asked.partition("key=")[2]
    token = (up.data_dir / "link-token").read_text()
    session = cookie.partition("=")[2]
    said = up.said()
    assert "http_request" in said, "there must be lines that could have told"
    assert said.count(printed_key) == 1
    for secret in (other_key, token, session):
        assert secret not in said
    for pid in up.family():
        shown = shown_of(pid)
        for secret in (printed_key, other_key, token, session):
            assert secret.encode() not in shown


HELLO = bytes.fromhex("16030100c8010000c40303") + secrets.token_bytes(32) + bytes(155)

GARBAGE: dict[str, bytes] = {
    "random bytes": random.Random(7).randbytes(64 << 10),
    "a TLS hello": HELLO,
    "a huge header": b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (1 << 20),
    "many headers": b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 10_000 + b"\r\n",
    "zeros": bytes(64 << 10),
}


@pytest.mark.parametrize("listener", ["console", "local", "observe"])
def test_garbage_is_counted_and_survived(up: Standing, listener: str) -> None:
    addresses: dict[str, Address] = {
        "console": up.console,
        "local": up.socket("brain"),
        "observe": up.socket("observe"),
    }
    address = addresses[listener]
    counter = up.socket("observe" if listener == "observe" else "brain")
    children = up.children()

    def dropped() -> float:
        return counted(counter, "nemutator_http_connections_dropped_total", listener=listener)

    def wait_until_dropped(more_than: float, name: str) -> None:
        up.wait_until(lambda: dropped() > more_than, f"{name} counted", within_s=PATIENCE_S)

    with contextlib.ExitStack() as half_open:
        for head in (b"", b"G", b"GET / HTTP/1.1\r\nHost:"):
            half_open.enter_context(connected(address)).sendall(head)
        for name, given in GARBAGE.items():
            before = dropped()
            with connected(address) as stranger, contextlib.suppress(ConnectionError):
                stranger.sendall(given)
                while stranger.recv(65536):
                    pass
            wait_until_dropped(before, name)
        assert ask(address, "/healthz").status == 200
    assert up.ready("brain")
    assert up.ready("observe")
    assert children == up.children(), "somebody died of it"
    assert "Traceback" not in up.said()
