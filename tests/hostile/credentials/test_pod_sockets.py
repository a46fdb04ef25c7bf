"""Who tries to get, from the socket of a pod, what is another's, or more than its share."""

import asyncio
import json
import re
import socket
import sys
import tracemalloc
from pathlib import Path

import pytest
from nemutator_agent.credentials.http_api import REFUSED_AFTER_S
from nemutator_agent.credentials.pods.sockets import COST_OF_CROWDED, LARGE_AT_ONCE, LIMITS
from nemutator_agent.identity.attestors import PodAttestor
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.peers import by_best, by_number
from nemutator_agent.identity.pods import PodsRoot
from nemutator_common import names

from tests.fakes.listeners import closing, everything, one_answer
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.pod_sockets import PATIENCE_S, Everybody, Node, OnTrust, call

MOST_HELD = 400
"""Of the test's own: it may open no more files than others."""

DECLARED = {"secret.word": "secret/app/db#password"}
HAND_OVER = """
import socket, sys
parent = socket.socket(fileno=int(sys.argv[2]))
parent.send(b"here")
parent.recv(1)
made = socket.socket(socket.AF_UNIX)
made.connect(sys.argv[1])
socket.send_fds(parent, [b"x"], [made.fileno()])
parent.recv(1)  # it lives until the parent writes
"""
ASK = b"GET /v1/secret/word HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(params=[by_best, by_number])
def node(tmp_path: Path, request: pytest.FixtureRequest) -> Node:
    """As the kernel has it, and as kernels before 6.5 do."""
    return ready(Node(tmp_path, hold=request.param))


def ready(node: Node) -> Node:
    node.setup.vault.state.write("secret/app/db", {"password": "hunter2"})
    node.setup.allow("secret/app/db")
    return node


async def test_a_connection_whose_process_has_ended_gets_nothing_more(node: Node) -> None:
    """A child connects, hands the connection over and ends: what is left of it is no identity."""
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        ours, childs = socket.socketpair()
        with ours, childs:
            ours.settimeout(PATIENCE_S)
            words = [sys.executable, "-c", HAND_OVER, str(path), str(childs.fileno())]
            child = await asyncio.create_subprocess_exec(*words, pass_fds=[childs.fileno()])
            assert await asyncio.to_thread(ours.recv, 4) == b"here"
            node.peers.poll()
            ours.send(b"x")
            _, (fd,), _, _ = await asyncio.to_thread(socket.recv_fds, ours, 1, 1)
            with socket.socket(fileno=fd) as kept:
                reader, writer = await asyncio.open_unix_connection(sock=kept)
                async with closing(writer):
                    writer.write(ASK)
                    status, body = await one_answer(reader)
                    assert (status, json.loads(body)["value"]) == (200, "hunter2")
                    ours.send(b"x")
                    assert await child.wait() == 0
                    writer.write(ASK)
                    status, body = await one_answer(reader)
                    assert (status, json.loads(body)["step"]) == (403, "alive")
                    # And the connection is ended, too.
                    assert await everything(reader) == b""


async def test_two_pods_that_swap_their_sockets_get_nothing(tmp_path: Path) -> None:
    here = {"pod": POD.uid}

    def is_in(_: ProcessFacts) -> str:
        return here["pod"]

    node = ready(Node(tmp_path, attestor=Everybody(is_in)))
    node.setup.allow("secret/app/db", pod=OTHER_POD)
    async with node.running():
        own = await node.publish("v1", declared=DECLARED)
        others = await node.publish("v2", OTHER_POD, declared=DECLARED)
        for pod, mine, theirs in ((POD, own, others), (OTHER_POD, others, own)):
            here["pod"] = pod.uid
            assert (await call(mine, "/v1/secret/word"))[0] == 200
            for asked in (
                "/v1/secret/word",
                "/v1/env",
                "/v1/whoami",
                "/v1/declared",
                "/v1/secret/x",
            ):
                status, document = await call(theirs, asked)
                assert (status, document["step"]) == (403, "other pod")
                assert "hunter2" not in str(document)


async def test_a_real_process_that_is_in_no_pod_is_refused_by_the_real_attestor(
    tmp_path: Path,
) -> None:
    node = ready(Node(tmp_path, attestor=PodAttestor(PodsRoot("", "/kubepods.slice"))))
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        status, document = await call(path, "/v1/secret/word")
        assert status == 403
        assert document["step"] in {"position", "hierarchies", "cgroup"}
    assert node.setup.calls == {}


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e%2fword",
        "..%2f..%2fsecret%2fapp%2fdb",
        "word%00",
        "word%0d%0aX-Evil:%201",
        "%ff%fe",
        "secret.word",
        "WORD",
        "word%23password",
        "word;raw=1",
        "%F0%9F%94%91",
        "__proto__",
        "x" * 4000,
    ],
)
async def test_a_name_with_tricks_is_an_unknown_name(node: Node, name: str) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        reader, writer = await asyncio.open_unix_connection(path)
        async with closing(writer):
            writer.write(f"GET /v1/secret/{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            status, body = await one_answer(reader)
        assert status in {400, 404}
        assert b"hunter2" not in body
    assert node.setup.calls == {}


@pytest.mark.parametrize(
    ("target", "status", "step"),
    [
        (b"/v1/secret/../secret/word", 404, "path"),
        (b"/v1/secret/%2e%2e/word", 404, "path"),
        (b"/../v1/secret/nope", 404, "path"),
        (b"/v1/./secret/nope", 404, "path"),
        (b"/v1/secret/word/", 404, "path"),
        (b"/v1/secret/..", 404, "declaration"),
        (b"/v1/secret/%2e%2e", 404, "declaration"),
        (b"/v1/secret/a%00b", 404, "declaration"),
        (b"/v1/secret/a\0b", 400, "request"),
        (b"/v1/secret/\xff\xfe", 400, "request"),
        (b"v1/secret/word", 400, "request"),
        (b"/v1/secret/" + b"n" * (1 << 20), 431, "request"),
        (b"/v1/secret/word?raw=0&" + b"x=1&" * 1000, 400, "query"),
    ],
    ids=lambda given: repr(given)[:40],
)
async def test_a_path_with_tricks_is_refused_with_its_step_and_counted(
    node: Node, target: bytes, status: int, step: str
) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        reader, writer = await asyncio.open_unix_connection(path)
        async with closing(writer):
            writer.write(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            answered, body = await one_answer(reader)
        document = json.loads(body)
        assert (answered, document["step"]) == (status, step)
        assert document["remedy"]
        assert b"hunter2" not in body
        assert node.setup.meter.total(names.HTTP_REQUESTS, listener="pods", status=str(status)) == 1
        assert (await call(path, "/v1/secret/word"))[1]["value"] == "hunter2"


@pytest.mark.slow
async def test_names_of_a_mebibyte_take_no_memory_with_them(node: Node) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        await call(path, "/v1/whoami")
        tracemalloc.start()
        for _ in range(20):
            reader, writer = await asyncio.open_unix_connection(path)
            async with closing(writer):
                writer.write(b"GET /v1/secret/" + b"n" * (1 << 20) + b" HTTP/1.1\r\n\r\n")
                assert (await one_answer(reader))[0] == 431
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # The last of them is not collected yet.
        assert held < 4 << 20


@pytest.mark.slow
async def test_ten_thousand_idle_connections_of_one_pod_hold_its_share_and_nothing_of_others(
    tmp_path: Path,
) -> None:
    node = ready(Node(tmp_path, attestor=OnTrust()))
    node.setup.allow("secret/app/db", pod=OTHER_POD)
    async with node.running():
        greedy = await node.publish("v1", declared=DECLARED)
        other = await node.publish("v2", OTHER_POD, declared=DECLARED)
        await call(other, "/v1/secret/word")
        held: list[socket.socket] = []
        turned_away = 0
        for number in range(10_000):
            connection = socket.socket(socket.AF_UNIX)
            connection.setblocking(False)
            if connection.connect_ex(str(greedy)) == 0 and len(held) < MOST_HELD:
                held.append(connection)
            else:
                turned_away += 1
                connection.close()
            if number % 1000 == 0:
                assert (await call(other, "/v1/secret/word"))[1]["value"] == "hunter2"
        open_ones = node.setup.meter.value(names.HTTP_CONNECTIONS, listener="pods")
        assert open_ones <= LIMITS.connections + 1
        assert len(held) + turned_away == 10_000
        for connection in held:
            connection.close()


@pytest.mark.slow
async def test_a_flood_of_requests_is_slowed_down_and_costs_vault_one_read(node: Node) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        reader, writer = await asyncio.open_unix_connection(path)
        async with closing(writer):
            for _ in range(100):
                writer.write(ASK)
                assert (await one_answer(reader))[0] == 200
            sleeping = node.setup.clock.sleepers
            writer.write(ASK + ASK)
            # Whoever asks too often waits for each answer, and the second waits for the first.
            await node.setup.clock.until_sleeping(sleeping + 1)
            assert node.setup.meter.total(names.CREDENTIAL_REFUSALS, step="rate") == 1
            await node.setup.clock.advance(2 * REFUSED_AFTER_S)
            status, body = await one_answer(reader)
            assert (status, json.loads(body)["step"]) == (429, "rate")
            assert (await one_answer(reader))[0] == 200
        assert node.setup.calls["read"] == 1


async def test_who_only_connects_waits_in_the_kernel(node: Node) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        sleeping = node.setup.clock.sleepers
        connections = []
        for _ in range(400):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(path))
            connections.append(connection)
        await node.setup.clock.until_sleeping(sleeping + 1)
        seen = LIMITS.connections + node.setup.meter.total(
            names.HTTP_CONNECTIONS_DROPPED, reason="too_many"
        )
        # Two connections for each request that a pod may make, and all that it may hold; fewer beyond that.
        assert seen == LIMITS.connections + 2 * 100 // COST_OF_CROWDED + 1
        await node.setup.clock.advance(1)
        for connection in connections:
            connection.close()


async def test_a_pod_with_more_connections_than_its_share_takes_none_of_others(
    tmp_path: Path,
) -> None:
    node = Node(tmp_path, attestor=OnTrust())
    async with node.running():
        greedy = await node.publish("v1", declared=DECLARED)
        other = await node.publish("v2", OTHER_POD, declared=DECLARED)
        opened = []
        for _ in range(LIMITS.connections + 10):
            _, writer = await asyncio.open_unix_connection(greedy)
            opened.append(writer)
        assert (await call(other, "/v1/whoami"))[0] == 200
        for writer in opened:
            writer.close()
        dropped = node.setup.meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="too_many")
        assert dropped == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        b"GET /v1/secret/word HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (64 << 10) + b"\r\n\r\n",
        b"POST /v1/secret/word HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_what_is_too_large_or_no_request_ends_its_connection_alone(
    node: Node, sent: bytes
) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        reader, writer = await asyncio.open_unix_connection(path)
        async with closing(writer):
            writer.write(sent)
            answer = await everything(reader)
            assert answer == b"" or re.match(rb"HTTP/1\.[01] 4\d\d ", answer)
        assert (await call(path, "/v1/secret/word"))[0] == 200


async def test_no_answer_may_be_kept_by_anybody_between(node: Node) -> None:
    async with node.running():
        path = await node.publish("v1", declared=DECLARED)
        reader, writer = await asyncio.open_unix_connection(path)
        async with closing(writer):
            writer.write(ASK)
            head = await reader.readuntil(b"\r\n\r\n")
        assert b"cache-control: no-store" in head.lower()


BIG = "x" * (250 << 10)


@pytest.mark.slow
async def test_readers_who_take_nothing_hold_little_and_stop_nobody_else(tmp_path: Path) -> None:
    node = ready(Node(tmp_path, attestor=OnTrust()))
    node.setup.allow("secret/app/db", pod=OTHER_POD)
    node.setup.vault.state.write("secret/app/db", {"password": "hunter2", "big": BIG})
    declared = {**DECLARED, "secret.big": "secret/app/db#big", "env.BIG": "secret/app/db#big"}
    async with node.running():
        greedy = await node.publish("v1", declared=declared)
        other = await node.publish("v2", OTHER_POD, declared=declared)
        await call(greedy, "/v1/whoami")
        tracemalloc.start()
        connections = []
        for number in range(LIMITS.connections - 1):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(greedy))
            asked = (b"secret/big", b"secret/big?raw=1", b"env")[number % 3]
            connection.send(b"GET /v1/%s HTTP/1.1\r\nHost: x\r\n\r\n" % asked)
            connections.append(connection)
        # Who wants little gets it, from the same socket and from others, large things from others.
        assert (await call(greedy, "/v1/secret/word"))[1]["value"] == "hunter2"
        for socket_of in (other, other):
            assert (await call(socket_of, "/v1/secret/big"))[1]["value"] == BIG
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # The documents, those that have their turn (in a few forms), and connections.
        assert held < (4 + 3 * LARGE_AT_ONCE) * len(BIG) + (64 << 10) * len(connections)
        for connection in connections:
            connection.close()


async def test_who_has_read_all_holds_none_of_it_any_more(node: Node) -> None:
    node.setup.vault.state.write("secret/app/db", {"big": BIG})
    async with node.running():
        path = await node.publish("v1", declared={"secret.big": "secret/app/db#big"})
        writers = []
        tracemalloc.start()
        for _ in range(8):
            reader, writer = await asyncio.open_unix_connection(path, limit=4096)
            writer.write(ASK.replace(b"word", b"big"))
            assert (await one_answer(reader))[0] == 200
            writers.append(writer)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < 4 * len(BIG)
        for writer in writers:
            writer.close()
