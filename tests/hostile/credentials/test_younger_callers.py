"""Before Linux 6.5: whoever may have another's number is not believed, and a process that lives is."""

import asyncio
import json
import socket
import sys
from pathlib import Path

from nemutator_agent.identity.listen_queues import ListenQueues
from nemutator_agent.identity.peers import by_number, open_peer

from tests.fakes.pod_sockets import Node
from tests.hostile.identity.callers import listening

ASK_TWICE = """
import http.client, socket, sys
for _ in range(2):
    connection = http.client.HTTPConnection("agent", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(sys.argv[1])
    connection.request("GET", "/v1/whoami")
    answer = connection.getresponse()
    print(answer.status, answer.will_close, answer.read().decode(), sep="|", flush=True)
    sys.stdin.readline()
"""


async def test_a_process_that_has_just_started_connects_again_and_is_let_in(tmp_path: Path) -> None:
    node = Node(tmp_path, hold=by_number)
    async with node.running():
        path = await node.publish("v1")
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ASK_TWICE, str(path)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        status, closes, body = (await child.stdout.readline()).decode().split("|")
        document = json.loads(body)
        assert (status, closes, document["step"]) == ("503", "True", "start")
        assert "connect again" in document["remedy"]
        node.peers.poll()
        child.stdin.write(b"\n")
        status, _, body = (await child.stdout.readline()).decode().split("|")
        assert (status, json.loads(body)["pod"]) == ("200", "api-1")
        child.stdin.write(b"\n")
        assert await child.wait() == 0


def test_a_queue_with_something_in_it_was_empty_before(tmp_path: Path) -> None:
    times = iter((1.0, 2.0, 3.0, 4.0))
    queues = ListenQueues(lambda: next(times))
    with listening(tmp_path) as (listener, path), socket.socket(socket.AF_UNIX) as caller:
        queues.add(listener)
        queues.poll()
        assert queues.empty_at(listener) == 2.0
        caller.connect(str(path))
        queues.poll()
        assert queues.empty_at(listener) == 2.0
        accepted, _ = listener.accept()
        accepted.close()
        queues.poll()
        assert queues.empty_at(listener) == 4.0
        queues.remove(listener)
        assert queues.empty_at(listener) == float("-inf")


def test_a_socket_with_the_number_of_a_closed_one_is_not_taken_for_it(tmp_path: Path) -> None:
    queues = ListenQueues()
    with listening(tmp_path) as (closed, _):
        queues.add(closed)
        fd = closed.fileno()
    (tmp_path / "door").unlink()
    with listening(tmp_path) as (again, _):
        assert again.fileno() == fd
        queues.add(again)
        queues.remove(closed)
        queues.poll()
        assert queues.empty_at(closed) == float("-inf")
        assert queues.empty_at(again) > 0


def test_whoever_started_after_the_queue_was_empty_is_not_proven() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        peer = open_peer(ours, hold=by_number, connected_after=0.0)
        started = peer.facts().started_ticks
        assert started is not None
        assert not peer.facts().proven
        peer.close()
        # The kernel's clock has ticks of 10 ms: within the one of its start, nothing is certain.
        for after, proven in ((started / 100, False), ((started + 1) / 100, True)):
            peer = open_peer(ours, hold=by_number, connected_after=after)
            assert peer.facts().proven is proven
            peer.close()
