"""Networks of pods on the real kernel: namespaces of our own, joined to this one by a pair of interfaces."""

import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.flow_reading import SocketsNotReadError
from nemutator_agent.usage.flows import flows_between, table
from nemutator_agent.usage.pod_networks import PodNetworks
from nemutator_agent.usage.pod_sockets import PodSocketTables
from nemutator_agent.usage.proc_activity import namespace_file
from nemutator_agent.usage.procfs import ProcfsReader

from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

BYTES = 300_000

SERVER = """
import socket, sys
server = socket.create_server((sys.argv[1], 7000), family=int(sys.argv[2]), dualstack_ipv6=sys.argv[2] == "10")
print("ready", flush=True)
kept = []
while True:
    one, _ = server.accept()
    kept.append(one)
    left = int(sys.argv[3])
    while left > 0:
        left -= len(one.recv(65536))
    one.sendall(b"done")
"""


CLIENT = """
import socket, sys
connection = socket.create_connection((sys.argv[1], 7000), timeout=60)
connection.sendall(b"x" * int(sys.argv[2]))
assert connection.recv(4) == b"done"
print(connection.getsockname()[0], flush=True)
sys.stdin.read()
"""


@dataclass
class Pod:
    pid: int
    started_ticks: int
    address: str


@pytest.fixture
def reader() -> ProcfsReader:
    return ProcfsReader(CachedFiles(most=100), most_processes=99, most_groups=99)


def run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True, timeout=60)


@pytest.fixture(params=["4", "6"])
def pod(request: pytest.FixtureRequest, reader: ProcfsReader) -> Iterator[Pod]:
    """A process with a server, in a namespace that one other interface leads to."""
    ours, theirs = f"nemu-{secrets.token_hex(3)}-o", "eth0"
    net = secrets.randbelow(200)
    family = {"4": socket.AF_INET, "6": socket.AF_INET6}[request.param]
    bound = {"4": "0.0.0.0", "6": "::"}[request.param]
    command = [sys.executable, "-c", SERVER, bound, str(int(family)), str(BYTES)]
    # Not by `ip netns`, which leaves a mount on the machine for all later ones.
    with subprocess.Popen(["unshare", "--net", *command], stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == b"ready\n"
            there = ("nsenter", f"--net=/proc/{started.pid}/ns/net", "ip")
            peer = ("peer", "name", theirs, "netns", str(started.pid))
            run("ip", "link", "add", ours, "type", "veth", *peer)
            run("ip", "address", "add", f"198.18.{net}.1/30", "dev", ours)
            run("ip", "link", "set", ours, "up")
            run(*there, "address", "add", f"198.18.{net}.2/30", "dev", theirs)
            run(*there, "link", "set", theirs, "up")
            ticks = reader.started_ticks(started.pid)
            assert ticks is not None
            yield Pod(started.pid, ticks, f"198.18.{net}.2")
        finally:
            started.kill()
            subprocess.run(["ip", "link", "delete", ours], check=False, capture_output=True)


@contextlib.contextmanager
def sent_to(pod: Pod) -> Iterator[str]:
    """A connection over which all bytes went, and the address that it came from."""
    # In a process of its own, because tests may connect to this machine alone.
    command = [sys.executable, "-c", CLIENT, pod.address, str(BYTES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        yield client.stdout.readline().decode().strip()
        client.kill()


def test_flows_of_a_pod_have_the_bytes_that_went_through(pod: Pod, reader: ProcfsReader) -> None:
    before_us = os.readlink("/proc/thread-self/ns/net")
    tables = PodSocketTables(reader.started_ticks)
    before = table(0.0, asyncio.run(tables.read(pod.pid, pod.started_ticks)))
    with sent_to(pod) as own:
        after = table(60.0, asyncio.run(tables.read(pod.pid, pod.started_ticks)))
    [flow] = flows_between(before, after, "u")
    print(flow)
    assert (flow.address, flow.port, flow.direction) == (own, 7000, "in")
    # What acknowledges the last bytes may be on its way.
    assert flow.received == BYTES
    assert 0 <= flow.sent <= 5
    assert flow.connections == 1
    assert 7000 in before.listening
    # Nobody of this process is in the pod: no thread is left there.
    assert os.readlink("/proc/thread-self/ns/net") == before_us
    until(lambda: namespaces() == {before_us}, "no thread is left in the pod", within_s=60)


def namespaces() -> set[str]:
    """Those that threads of this process are in."""
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(thread / "ns" / "net"))
    return found


def test_counters_of_a_pod_are_those_of_its_interface(pod: Pod) -> None:
    networks = PodNetworks(namespace_file)
    assert networks.counters(os.getpid(), 0.0) is None, "the machine's own network is no pod's"
    before = networks.counters(pod.pid, 1.0)
    with sent_to(pod):
        pass
    after = networks.counters(pod.pid, 2.0)
    assert before is not None
    assert after is not None
    received = after.counted.received_bytes - before.counted.received_bytes
    assert BYTES <= received <= 1.2 * BYTES
    assert after.counted.received_packets > before.counted.received_packets


def test_more_sockets_than_are_read_is_a_reason(pod: Pod, reader: ProcfsReader) -> None:
    tables = PodSocketTables(reader.started_ticks, most=1)
    with sent_to(pod), sent_to(pod), pytest.raises(SocketsNotReadError, match="many"):
        asyncio.run(tables.read(pod.pid, pod.started_ticks))


def test_a_number_with_a_new_owner_is_not_entered(pod: Pod, reader: ProcfsReader) -> None:
    tables = PodSocketTables(reader.started_ticks)
    with pytest.raises(SocketsNotReadError, match="ended"):
        asyncio.run(tables.read(pod.pid, pod.started_ticks + 1))
    with pytest.raises(SocketsNotReadError, match="ended"):
        asyncio.run(tables.read(2**22 - 1, 1))
