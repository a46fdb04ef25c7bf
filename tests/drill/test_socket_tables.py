"""A network namespace with as many connections as the machine carries, and one beside it with a single one: what an agent takes for
reading them, on the real kernel. Both ends of a connection are in the namespace, so each counts twice."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.flow_reading import SocketsNotReadError
from nemutator_agent.usage.pod_sockets import MOST_SOCKETS, PodSocketTables
from nemutator_agent.usage.proc_activity import member_files
from nemutator_agent.usage.procfs import ProcfsReader

pytestmark = pytest.mark.timeout(1800)

CONNECTIONS = int(os.environ.get("DRILL_CONNECTIONS", "100000"))
TRIES = 20
READINGS_A_MINUTE = 1
"""One pod is read twice, a minute apart, and then the next one."""
SHARE = 0.002
"""Of a processor, for flows: what the budget with them has more than the one without."""
MORE_MEMORY_BYTES = 32 << 20

CROWD = """
import os, resource, socket, subprocess, sys
count = int(sys.argv[1])
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("1024 65000")
# A process may have so many files; each of these has ports of its own, too.
each = most // 2 - 50
made, workers = os.pipe(), -(-count // each)
for number in range(workers):
    if os.fork() == 0:
        server = socket.create_server(("127.0.0.1", 700 + number), backlog=1024)
        kept = []
        for _ in range(min(each, count - number * each)):
            client = socket.socket()
            client.bind((f"127.0.1.{1 + number}", 0))
            client.connect(("127.0.0.1", 700 + number))
            kept += [client, server.accept()[0]]
        os.write(made[1], b"x")
        sys.stdin.read()
        os._exit(0)
while workers:
    workers -= len(os.read(made[0], workers))
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass
class Namespace:
    pid: int
    started_ticks: int


@contextlib.contextmanager
def crowd(connections: int, reader: ProcfsReader) -> Iterator[Namespace]:
    command = ["unshare", "--net", sys.executable, "-c", CROWD, str(connections)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == b"ready\n"
            ticks = reader.started_ticks(started.pid)
            assert ticks is not None
            yield Namespace(started.pid, ticks)
        finally:
            started.kill()


@dataclass
class Reading:
    found: str
    cpu_s: float
    longest_s: float


def read_again_and_again(tables: PodSocketTables, one: Namespace) -> Reading:
    """What a reading finds, its mean CPU time, and the longest one by the clock."""
    found, longest_s, began = "", 0.0, time.process_time()
    for _ in range(TRIES):
        at = time.monotonic()
        try:
            found = f"{len(asyncio.run(tables.read(one.pid, one.started_ticks)))} sockets"
        except SocketsNotReadError as error:
            found = error.reason
        longest_s = max(longest_s, time.monotonic() - at)
    return Reading(found, (time.process_time() - began) / TRIES, longest_s)


def test_a_crowded_namespace_costs_an_agent_little() -> None:
    reader = ProcfsReader(CachedFiles(most=100), most_processes=9_999, most_groups=99)
    tables = PodSocketTables(reader.started_ticks)
    with crowd(1, reader) as alone:
        quiet = read_again_and_again(tables, alone)
        process = psutil.Process()
        before = process.memory_info().rss
        with crowd(CONNECTIONS, reader) as crowded:
            many = read_again_and_again(tables, crowded)
            beside = read_again_and_again(tables, alone)
            began = time.process_time()
            open_files = member_files().open_files(crowded.pid)
            counting_s = time.process_time() - began
        more = process.memory_info().rss - before
        with crowd(MOST_SOCKETS // 2 - 10, reader) as full:
            most = read_again_and_again(tables, full)
    print(
        f"{CONNECTIONS} connections, {open_files} open files (counted in {1e6 * counting_s:.0f} µs):"
        f" {many}; the other namespace before {quiet} and meanwhile {beside};"
        f" as many as are read: {most}; {more / (1 << 20):.1f} MiB more memory"
    )
    assert many.found == "many"
    assert quiet.found == beside.found == "3 sockets"
    assert more < MORE_MEMORY_BYTES
    for reading in (many, beside, most):
        assert reading.cpu_s * READINGS_A_MINUTE / 60 <= SHARE
