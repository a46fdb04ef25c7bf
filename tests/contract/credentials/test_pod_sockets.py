"""From a publication to a secret, over the sockets that mount and pods use."""

import asyncio
import contextlib
import json
import stat
from pathlib import Path

import pytest
from nemutator_agent.credentials.pods.sockets import LIMITS
from nemutator_agent.publications import INSTANCE_PATH, PUBLICATIONS_PATH
from nemutator_common import names

from tests.fakes.brokers import FRESH_S
from tests.fakes.listeners import closing, everything, one_answer
from tests.fakes.pod_sockets import PATIENCE_S, Node, call, directory_of

DECLARED = {
    "secret.db": "secret/app/db",
    "secret.word": "secret/app/db#password",
    "secret.others": "secret/other",
    "env.TOKEN": "secret/app/db#password",
}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    state = made.setup.vault.state
    state.write("secret/app/db", {"password": "hunter2", "user": "api"})
    made.setup.allow("secret/app/db")
    return made


async def test_a_pod_gets_what_it_declares_and_vault_allows(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        assert stat.S_IMODE(socket.lstat().st_mode) == 0o666
        assert await call(socket, "/v1/whoami") == (
            200,
            {
                "namespace": "shop",
                "pod": "api-1",
                "uid": "u-1",
                "service_account": "api",
                "node": "n1",
            },
        )
        assert await call(socket, "/v1/declared") == (
            200,
            {"secrets": ["db", "others", "word"], "environment": ["TOKEN"]},
        )
        data = {"password": "hunter2", "user": "api"}
        whole = {"name": "db", "data": data, "version": 1}
        assert await call(socket, "/v1/secret/db") == (200, whole)
        one = {"name": "word", "value": "hunter2", "version": 1}
        assert await call(socket, "/v1/secret/word") == (200, one)
        assert await call(socket, "/v1/secret/word?raw=1") == (200, "hunter2")
        assert await call(socket, "/v1/env") == (200, {"TOKEN": "hunter2"})
        assert await call(socket, "/v1/env?format=nul") == (200, "TOKEN=hunter2\0")


async def test_every_no_has_its_status_its_step_and_a_remedy(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        for path, status, step in (
            ("/v1/secret/nope", 404, "declaration"),
            ("/v1/secret/others", 403, "vault"),
            ("/v1/secret/db?raw=2", 400, "query"),
            ("/v1/env?format=shell", 400, "query"),
        ):
            answered, document = await call(socket, path)
            assert (answered, document["step"]) == (status, step)
            assert document["error"]
            assert document["remedy"]


@pytest.mark.parametrize(
    ("sent", "status", "step", "remedy"),
    [
        (b"GET /v1/secrets/db HTTP/1.1\r\nHost: x\r\n\r\n", 404, "path", "/v1/secret/<name>"),
        (b"GET /v1/secret/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "path", "/v1/env"),
        (b"GET //v1/secret/x HTTP/1.1\r\nHost: x\r\n\r\n", 404, "path", "/v1/whoami"),
        (b"POST /v1/secret/db HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method", "GET"),
        (
            b"GET /v1/env HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n",
            413,
            "request",
            "GET",
        ),
        (
            b"GET /v1/env HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 9000 + b"\r\n\r\n",
            431,
            "request",
            "curl",
        ),
        (
            b"PUT /v1/secret/data/x HTTP/1.1\r\nHost: x\r\nX-Vault-Request: 1\r\nContent-Length: 70000\r\n\r\n",
            413,
            "request",
            "64 KiB",
        ),
        (b"GET /v1/env\x00 nonsense\r\n\r\n", 400, "request", "curl"),
    ],
)
async def test_what_no_desk_is_asked_for_has_a_step_and_a_remedy_too(
    node: Node, sent: bytes, status: int, step: str, remedy: str
) -> None:
    async with node.running():
        reader, writer = await asyncio.open_unix_connection(await node.publish("v1", declared={}))
        async with closing(writer):
            writer.write(sent)
            answered, body = await one_answer(reader)
    document = json.loads(body)
    assert (answered, document["step"]) == (status, step)
    assert document["error"]
    assert remedy in document["remedy"]


async def test_whoever_has_all_connections_of_a_pod_is_told_so(
    node: Node,
) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        async with contextlib.AsyncExitStack() as opened:
            for _ in range(LIMITS.connections):
                _, writer = await asyncio.open_unix_connection(socket)
                await opened.enter_async_context(closing(writer))
            reader, writer = await asyncio.open_unix_connection(socket)
            async with closing(writer):
                writer.write(b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n")
                status, body = await one_answer(reader)
                assert (status, json.loads(body)["step"]) == (429, "connections")
                assert await everything(reader) == b""


async def test_a_sealed_vault_is_503_and_what_was_read_before_is_marked(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        await call(socket, "/v1/secret/word")
        node.setup.vault.outage = "sealed"
        await node.setup.clock.advance(FRESH_S)
        status, document = await call(socket, "/v1/secret/word")
        assert (status, document["stale"]) == (200, True)
        status, document = await call(socket, "/v1/secret/others")
        assert (status, document["step"]) == (503, "vault")
        assert "unseal" in document["remedy"]


async def test_withdrawn_the_socket_is_gone_and_the_token_revoked(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        await call(socket, "/v1/secret/db")
        (token,) = node.setup.vault.state.tokens
        path = f"{PUBLICATIONS_PATH}/v1"
        for _ in range(2):
            assert (await call(node.private, path, method="DELETE"))[0] == 204
        assert not socket.exists()
        await node.setup.clock.advance(1)
        assert node.setup.vault.state.revoked == [token]


async def test_published_again_the_socket_stays_the_same_one(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        before = socket.lstat().st_ino
        await node.publish("v1", declared=DECLARED)
        assert socket.lstat().st_ino == before
        assert node.setup.meter.value(names.POD_SOCKETS) == 1


async def test_after_a_restart_the_socket_is_made_anew(tmp_path: Path, node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        assert await call(node.private, INSTANCE_PATH) == (200, {"id": "life-1"})
    # Killed, it would have left this behind.
    socket.write_text("")
    again = Node(tmp_path)
    async with again.running():
        assert (await call(await again.publish("v1"), "/v1/whoami"))[0] == 200


async def test_a_socket_that_the_pod_has_removed_is_made_again(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1")
        socket.unlink()
        assert (await call(await node.publish("v1"), "/v1/whoami"))[0] == 200


async def test_a_volume_that_was_made_again_has_its_socket_and_the_one_before_is_closed(
    node: Node,
) -> None:
    async with node.running():
        before = await node.publish("v1")
        reader, writer = await asyncio.open_unix_connection(before)
        before.parent.rename(node.folder / "before")
        assert (await call(await node.publish("v1"), "/v1/whoami"))[0] == 200
        async with asyncio.timeout(PATIENCE_S):
            assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize("kind", ["missing", "file", "link", "another"])
async def test_a_directory_that_is_none_is_refused_and_named(node: Node, kind: str) -> None:
    directory = node.folder / "odd"
    if kind == "file":
        directory.write_text("")
    elif kind == "link":
        directory.symlink_to(node.volume("elsewhere"))
    elif kind == "another":
        directory.mkdir()
    named = directory_of(directory) if kind != "missing" else directory_of(node.folder)
    named["inode"] = 1 if kind == "another" else named["inode"]
    given = {**node.publication("v1"), "directory": named | {"path": str(directory)}}
    async with node.running():
        path = f"{PUBLICATIONS_PATH}/v1"
        status, document = await call(node.private, path, method="PUT", json=given)
        assert status == 503
        assert str(directory) in document["error"]
        assert list(node.volume("elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {},
        {"pod": {}},
        {"pod": None, "directory": "/x", "attributes": {}, "tokens": {}},
    ],
)
async def test_what_is_no_publication_is_refused(node: Node, given: object) -> None:
    async with node.running():
        path = f"{PUBLICATIONS_PATH}/v1"
        assert (await call(node.private, path, method="PUT", json=given))[0] == 400


@pytest.mark.parametrize("volume", ["..%2f..%2fetc", "a%00b", ".hidden", "x" * 129])
async def test_an_id_with_tricks_is_refused(node: Node, volume: str) -> None:
    async with node.running():
        given = node.publication("v1")
        path = f"{PUBLICATIONS_PATH}/{volume}"
        assert (await call(node.private, path, method="PUT", json=given))[0] == 400
