"""A plain request for a secret gets what any other gets: at once, or by the way of all the others."""

import asyncio
import json
import socket as sockets
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.credentials.http_api import LARGE_BYTES
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_common import names

from tests.fakes.brokers import FRESH_S
from tests.fakes.listeners import closing, one_answer
from tests.fakes.peers import POD
from tests.fakes.pod_sockets import PATIENCE_S, Everybody, Node, call

DECLARED = {
    "secret.db": "secret/app/db",
    "secret.word": "secret/app/db#password",
    "secret.gone": "secret/app/db#gone",
    "secret.others": "secret/other",
    "secret.large": "secret/large#value",
    "secret.middle": "secret/middle#value",
    "secret.half": "secret/app/half#value",
    "secret.file": '{"format":"json","a":"secret/app/db#user"}',
}
MIDDLE_BYTES = LARGE_BYTES - 1024
PLAIN = "Host: x\r\n"
PARSED = "Host: x\r\nX-Other: y\r\n"


class Whereabouts:
    """Where each caller is, as the kernel shows it."""

    def __init__(self) -> None:
        self.pod = POD.uid
        self.looks = 0

    def __call__(self, _: ProcessFacts) -> str:
        self.looks += 1
        return self.pod


@pytest.fixture
def whereabouts() -> Whereabouts:
    return Whereabouts()


@pytest.fixture
def node(tmp_path: Path, whereabouts: Whereabouts) -> Node:
    made = Node(tmp_path, attestor=Everybody(whereabouts))
    state = made.setup.vault.state
    state.write("secret/app/db", {"password": "hunter2", "user": "\u00e4pi"})
    state.write("secret/large", {"value": "x" * LARGE_BYTES})
    state.write("secret/middle", {"value": "y" * MIDDLE_BYTES})
    made.setup.allow("secret/app/db", "secret/large", "secret/middle")
    return made


async def asked(socket: Path, *questions: tuple[str, str]) -> Iterator[tuple[bytes, set[bytes]]]:
    """The body of each answer on one connection, and the lines of its head but for the date."""
    reader, writer = await asyncio.open_unix_connection(socket)
    answers = []
    async with closing(writer), asyncio.timeout(PATIENCE_S):
        for path, headers in questions:
            writer.write(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
            lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
            length = next(line for line in lines if line.startswith(b"Content-Length: "))
            body = await reader.readexactly(int(length.partition(b": ")[2]))
            answers.append((body, {line for line in lines if not line.startswith(b"Date: ")}))
    return iter(answers)


@pytest.mark.parametrize(
    "path", ["/v1/secret/db", "/v1/secret/word", "/v1/secret/word?raw=1", "/v1/secret/db?raw=0"]
)
async def test_it_is_the_same_answer(node: Node, path: str) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        cold, plain, parsed = await asked(socket, (path, PLAIN), (path, PLAIN), (path, PARSED))
        assert cold == plain == parsed
        assert b"hunter2" in plain[0]
        node.setup.vault.outage = "sealed"
        await node.setup.clock.advance(FRESH_S)
        plain, parsed = await asked(socket, (path, PLAIN), (path, PARSED))
        assert plain == parsed
        assert b"stale" in plain[0] or b"X-Nemutator-Stale: true" in plain[1]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/secret/nope",
        "/v1/secret/others",
        "/v1/secret/gone",
        "/v1/secret/db?raw=2",
        "/v1/secret/db/x",
        "/v1/secret",
        "/v1/secrets/db",
    ],
)
async def test_it_is_the_same_refusal(node: Node, path: str) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        await call(socket, "/v1/secret/db")
        (plain,) = await asked(socket, (path, PLAIN))
        (parsed,) = await asked(socket, (path, PARSED))
        assert plain == parsed
        assert b"HTTP/1.1 200 OK" not in plain[1]


async def test_each_is_a_record_a_reading_and_a_request_once(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        path = "/v1/secret/word"
        await asked(socket, (path, PLAIN), (path, PLAIN), (path, PARSED))
        reads = [one for one in node.setup.grants.all if one.operation == "read"]
        assert [(one.secret, one.result, one.cached) for one in reads] == [
            ("word", "granted", False),
            ("word", "granted", True),
            ("word", "granted", True),
        ]
        meter = node.setup.meter
        assert meter.total(names.CREDENTIAL_READS, result="cached") == 2
        assert meter.total(names.HTTP_REQUESTS, listener="pods", status="200") == 3


async def test_who_asks_is_looked_at_for_each_request(node: Node, whereabouts: Whereabouts) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        path = "/v1/secret/word"
        await asked(socket, (path, PLAIN))
        looks = whereabouts.looks
        reader, writer = await asyncio.open_unix_connection(socket)
        async with closing(writer), asyncio.timeout(PATIENCE_S):
            for _ in range(3):
                writer.write(f"GET {path} HTTP/1.1\r\n{PLAIN}\r\n".encode())
                assert (await reader.readuntil(b"\r\n")).endswith(b"200 OK\r\n")
                await reader.readuntil(b"}")
            assert whereabouts.looks == looks + 3
            # On the same connection, but in another pod by now.
            whereabouts.pod = "other"
            writer.write(f"GET {path} HTTP/1.1\r\n{PLAIN}\r\n".encode())
            refused = await reader.read()
        assert refused.startswith(b"HTTP/1.1 403 ")
        assert b"hunter2" not in refused
        denied = [one for one in node.setup.grants.all if one.result == "denied"]
        assert [one.reason for one in denied] == ["other pod"]


async def test_half_a_character_is_given_as_it_is_in_files(node: Node) -> None:
    node.setup.vault.state.write("secret/app/half", {"value": "\ud83d"})
    node.setup.allow("secret/app/half")
    declared = {**DECLARED, "env.HALF": "secret/app/half#value"}
    async with node.running():
        socket = await node.publish("v1", declared=declared)
        paths = ("/v1/secret/half?raw=1", "/v1/secret/half", "/v1/env", "/v1/env?format=nul")
        for headers in (PARSED, PLAIN):
            raw, half, variables, words = await asked(socket, *((path, headers) for path in paths))
            assert raw[0] == b"\xed\xa0\xbd"
            assert json.loads(half[0])["value"] == "\ud83d"
            assert json.loads(variables[0]) == {"HALF": "\ud83d"}
            assert words[0] == b"HALF=\xed\xa0\xbd\0"


async def test_a_large_document_waits_for_its_turn_as_ever(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=DECLARED)
        path = "/v1/secret/large"
        first, second = await asked(socket, (path, PLAIN), (path, PLAIN))
        assert first == second
        assert len(first[0]) > LARGE_BYTES


async def test_answers_that_wait_for_a_reader_come_whole_and_in_their_order(node: Node) -> None:
    asked_for = ["middle", "word"] * 6
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        for name in ("middle", "word"):
            await call(path, f"/v1/secret/{name}")
        before = node.setup.meter.total(names.HTTP_REQUESTS, listener="pods", status="200")
        with sockets.socket(sockets.AF_UNIX) as connection:
            connection.connect(str(path))
            for number, name in enumerate(asked_for, start=1):
                connection.send(f"GET /v1/secret/{name} HTTP/1.1\r\n{PLAIN}\r\n".encode())
                # Beyond what the kernel takes, answers wait, and then further requests do.
                for _ in range(100):
                    await asyncio.sleep(0)
                    counted = node.setup.meter.total(
                        names.HTTP_REQUESTS, listener="pods", status="200"
                    )
                    if counted - before == number:
                        break
            connection.setblocking(False)
            reader, writer = await asyncio.open_unix_connection(sock=connection.dup())
            async with closing(writer), asyncio.timeout(PATIENCE_S):
                values = []
                for _ in asked_for:
                    status, body = await one_answer(reader)
                    assert status == 200
                    values.append(json.loads(body)["value"])
        assert values == ["y" * MIDDLE_BYTES, "hunter2"] * 6
        reads = [one.secret for one in node.setup.grants.all if one.operation == "read"]
        assert reads[2:] == asked_for
