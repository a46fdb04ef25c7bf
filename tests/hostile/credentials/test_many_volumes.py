"""A pod that declares many volumes: all of its sockets have one share of everything."""

import asyncio
import socket
import tracemalloc
from pathlib import Path

import pytest
from nemutator_agent.credentials.pods.sockets import LARGE_AT_ONCE, LIMITS
from nemutator_agent.credentials.vault.cache import MOST_CACHED_BYTES
from nemutator_agent.publications import PUBLICATIONS_PATH
from nemutator_common import names

from tests.fakes.listeners import closing, one_answer
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.pod_sockets import Node, call

BIG = "x" * (250 << 10)
DECLARED = {"secret.word": "secret/app/db#password", "secret.big": "secret/app/big#big"}
ASK = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n"
ASK_BIG = b"GET /v1/secret/big HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    made.setup.vault.state.write("secret/app/db", {"password": "hunter2"})
    made.setup.vault.state.write("secret/app/big", {"big": BIG})
    made.setup.allow("secret/app/db", "secret/app/big")
    return made


async def published(node: Node, volumes: int) -> list[Path]:
    """The sockets of those of so many volumes of one pod that are served."""
    sockets = []
    for number in range(volumes):
        given = node.publication(f"v{number}", declared=DECLARED)
        path = f"{PUBLICATIONS_PATH}/v{number}"
        status, document = await call(node.private, path, method="PUT", json=given)
        if status == 204:
            sockets.append(node.volume(f"v{number}") / "agent.sock")
        else:
            assert (status, "volumes of one pod" in document["error"]) == (503, True)
            assert "one volume" in document["remedy"]
    return sockets


def open_now(node: Node) -> float:
    return node.setup.meter.value(names.HTTP_CONNECTIONS, listener="pods")


def dropped(node: Node) -> float:
    return node.setup.meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="too_many")


@pytest.mark.slow
async def test_readers_of_many_volumes_hold_no_more_than_those_of_one(node: Node) -> None:
    async with node.running():
        sockets = await published(node, 100)
        assert len(sockets) < 100
        assert (await call(sockets[0], "/v1/whoami"))[0] == 200
        connections = []
        tracemalloc.start()
        for path in sockets:
            for _ in range(4):
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(str(path))
                connection.send(ASK_BIG)
                connections.append(connection)
        for _ in range(100_000):
            if open_now(node) + dropped(node) == len(connections):
                break
            await asyncio.sleep(0)
        held_open = open_now(node)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        for connection in connections:
            connection.close()
    assert held_open <= LIMITS.connections
    assert held < (2 + 3 * LARGE_AT_ONCE) * len(BIG) + (64 << 10) * LIMITS.connections


async def test_a_pod_with_all_its_volumes_leaves_room_for_others(node: Node) -> None:
    async with node.running():
        await published(node, 600)
        other = await node.publish("other", OTHER_POD)
        assert other.exists()


async def test_the_rate_of_a_pod_does_not_grow_with_its_volumes(node: Node) -> None:
    async with node.running():
        first, *others = await published(node, 3)
        reader, writer = await asyncio.open_unix_connection(first)
        async with closing(writer):
            for _ in range(100):
                writer.write(ASK)
                assert (await one_answer(reader))[0] == 200
        sleeping = node.setup.clock.sleepers
        for path in others:
            reader, writer = await asyncio.open_unix_connection(path)
            async with closing(writer):
                writer.write(ASK)
                await node.setup.clock.until_sleeping(sleeping + 1)
        assert node.setup.meter.total(names.CREDENTIAL_REFUSALS, step="rate") == len(others)


async def test_one_cache_holds_what_a_pod_reads_with_all_its_roles(node: Node) -> None:
    state = node.setup.vault.state
    async with node.running():
        for number in range(8):
            role = f"role-{number}"
            state.role(role, f"the-jwt-{POD.uid}", ["secret/app/big"])
            declared = {**DECLARED, "vault-role": role}
            path = await node.publish(f"r{number}", declared=declared)
            assert (await call(path, "/v1/secret/big"))[0] == 200
        sessions = [node.setup.session(role=f"role-{number}") for number in range(8)]
        cached = sum(one.document.size for each in sessions for one in each.cache.values())
        assert 0 < cached <= MOST_CACHED_BYTES
