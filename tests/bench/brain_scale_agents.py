"""The agents of `brain-scale`: 5 000 nodes with their connections, and what they report.

A process of its own, on the core that is not the brain's. It is told what to do in lines of JSON,
and answers each with one.
"""

import asyncio
import contextlib
import gzip
import json
import random
import ssl
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import msgspec
import uvloop
from nemutator_common.shipping.batches import encode_reports
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    REPORTS_PATH,
    Ack,
    Machine,
    Pressure,
    Pressures,
    ProcessUsage,
    Report,
    Summary,
    Workload,
)
from nemutator_common.wire_columns import COLUMNS_FORM, COLUMNS_TYPE

from tests.bench import brain_scale_shape as shape
from tests.bench.brain_scale_records import MadeRecord, made_record
from tests.bench.brain_scale_tokens import token_of

UNITS = 40
HANDSHAKES = 64
PATIENCE_S = 60.0
POLL_S = 25
COMPARED = 50


def report_of(node: int) -> Report:
    """A node with 30 pods of two containers each, and 40 units; and a summary of each of its containers
    and units. Agents leave out sandboxes."""
    dice = random.Random(node)
    pressure = Pressure(1.5, 0.5, 0.0, 0.0)
    pressures = Pressures(cpu=pressure, memory=pressure, io=pressure)
    groups: list[tuple[str, str | None, str | None]] = [
        ("/", None, None),
        ("/kubepods.slice", None, None),
        ("/kubepods.slice/kubepods-burstable.slice", None, None),
        ("/system.slice", None, None),
    ]
    for pod in shape.pods_of(node):
        uid = shape.uid(pod)
        name = f"kubepods-burstable-pod{uid.replace('-', '_')}.slice"
        path = f"/kubepods.slice/kubepods-burstable.slice/{name}"
        groups.append((path, uid, None))
        for number in range(len(shape.CONTAINERS)):
            made = shape.container_id(pod, number)
            groups.append((f"{path}/cri-containerd-{made}.scope", uid, made))
    groups += [(f"/system.slice/unit-{number}.service", None, None) for number in range(UNITS)]
    workloads = tuple(
        Workload(
            path=path,
            kind="container" if container else "pod" if uid else "unit",
            name=path.rpartition("/")[2] or "/",
            container_id=container,
            pod_uid=uid,
            processes=1,
            cpu_cores=round(dice.random(), 6),
            memory_bytes=dice.randrange(1 << 30),
            pressures=pressures,
        )
        for path, uid, container in groups
    )
    holding = [one for one in groups if one[2] or "unit" in one[0]]
    processes = tuple(
        ProcessUsage(
            pid=1_000 + number,
            started_at=round(1.7e9 + dice.random() * 1e6, 2),
            workload=path,
            command="server",
            runtime="go",
            runtime_version="1.22.4",
            threads=dice.randrange(40),
            cpu_cores=round(dice.random(), 6),
            memory_bytes=dice.randrange(1 << 30),
        )
        for number, (path, _, _) in enumerate(holding)
    )
    machine = Machine(
        kernel="6.8.0-31-generic",
        system="Ubuntu 24.04 LTS",
        cpus=32,
        memory_bytes=128 << 30,
        boot_id="a3520fbb-5ff8-407a-9227-85a7555f8ab1",
        cpu_cores=12.5,
        memory_used_bytes=64 << 30,
        swap_used_bytes=0,
        load_1m=10.0,
        pressures=pressures,
    )
    summaries = [
        Summary(
            path=path,
            pod_uid=uid,
            container_id=container,
            from_at=1.5,
            to_at=2.5,
            cpu_cores=round(dice.random(), 6),
            memory_bytes=dice.randrange(1 << 30),
        )
        for path, uid, container in holding
    ]
    return Report(
        taken_at=1.5, machine=machine, workloads=workloads, processes=processes, missing=(),
        summaries=tuple(summaries),
    )  # fmt: skip


def at(report: Report, now: float, points: int) -> Report:
    """*report* as it is at *now*, with *points* summaries of each group."""
    ends = [now - shape.SUMMARY_S * (points - point - 1) for point in range(points)]
    summaries = tuple(
        replace(one, from_at=end - shape.SUMMARY_S, to_at=end)
        for end in ends
        for one in report.summaries
    )
    return replace(report, taken_at=now, summaries=summaries)


@dataclass(slots=True)
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def exchange(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body."""
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        body = await self.reader.readexactly(int(length or 0))
        return int(head.split(b" ", 2)[1]), body


class Agents:
    def __init__(self, port: int, group: asyncio.TaskGroup) -> None:
        self._port = port
        self._group = group
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE
        self._reports = [report_of(node) for node in range(shape.NODES)]
        self._forms = [ReportColumns() for _ in range(shape.NODES)]
        self._polls: dict[int, Connection] = {}
        self._posts: dict[int, Connection] = {}
        self._seqs = [count(1) for _ in range(shape.NODES)]
        self._handshakes = asyncio.Semaphore(HANDSHAKES)
        self._refused = 0
        self._why = ""
        self._reopened = 0
        self._cut_polls = 0
        self._asked_s = 0.0
        self._made: dict[int, MadeRecord] = {}
        """The last record of each node."""
        self._next_node = -1

    async def connect(self, _: dict[str, Any]) -> dict[str, Any]:
        """Two connections for each node: one that waits for requests, one that posts."""
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for node in range(shape.NODES):
                group.create_task(self._connect(node))
        return {
            "connections": len(self._polls) + len(self._posts),
            "refused": self._refused,
            "last_refusal": self._why,
            "seconds": round(time.monotonic() - begun, 1),
        }

    async def _connect(self, node: int) -> None:
        async with self._handshakes:
            for kept in (self._posts, self._polls):
                try:
                    kept[node] = await self._opened()
                    # An agent's first question: how far its reports are stored.
                    query = f"node={shape.node_name(node)}&epoch=e1"
                    status, answer = await kept[node].exchange(
                        _request("GET", f"{REPORTS_PATH}?{query}", node)
                    )
                    if status != 200:
                        raise OSError(answer[:200])
                    self._forms[node].acknowledged(msgspec.json.decode(answer, type=Ack))
                except (OSError, asyncio.IncompleteReadError) as error:
                    self._why = str(error)
                    self._refused += 1
                    kept.pop(node, None)
            if node in self._polls:
                self._group.create_task(self._poll(node, self._polls[node]))

    async def _opened(self) -> Connection:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._port, ssl=self._context, limit=1 << 16,
            ssl_handshake_timeout=PATIENCE_S,
        )  # fmt: skip
        return Connection(reader, writer)

    async def _post(self, node: int, request: bytes) -> tuple[int, bytes]:
        """Over the connection that is kept, or a new one when the brain has closed that."""
        try:
            return await self._posts[node].exchange(request)
        except (KeyError, OSError, asyncio.IncompleteReadError):
            self._reopened += 1
            self._posts[node] = await self._opened()
            return await self._posts[node].exchange(request)

    async def _poll(self, node: int, connection: Connection) -> None:
        # The first is shorter, as agents were not all started at once.
        wait_s = 1 + random.random() * POLL_S
        while True:
            path = f"{PROFILE_REQUESTS_PATH}?node={shape.node_name(node)}&wait_s={wait_s:.1f}"
            try:
                await connection.exchange(_request("GET", path, node))
            except (OSError, asyncio.IncompleteReadError):
                self._cut_polls += 1
                await asyncio.sleep(random.random() * 5)
                with contextlib.suppress(OSError):
                    connection = self._polls[node] = await self._opened()
            wait_s = POLL_S

    async def report(self, told: dict[str, Any]) -> dict[str, Any]:
        """One report of every node, with *points* summaries of each container."""
        # Made before: the agents' core makes fewer reports in a second than the brain's takes. Meanwhile those who wait for
        # requests ask again as they do elsewhere, each at its own time: otherwise all of them would when the round begins.
        made_s, sizes = 0.0, []
        bodies: list[tuple[int, bytes]] = []
        for node in range(shape.NODES):
            cpu_s = time.process_time()
            bodies.append((node, self._body(node, told["points"])))
            made_s += time.process_time() - cpu_s
            sizes.append(len(bodies[-1][1]))
            await asyncio.sleep(0)
        return await self._sent(bodies, told["at_once"]) | {
            "bytes": round(sum(sizes) / len(sizes)),
            "agent_ms_per_report": round(made_s * 1e3 / len(bodies), 2),
        }

    async def sustain(self, told: dict[str, Any]) -> dict[str, Any]:
        """Reports of one node after the other for *seconds*, each what the node has said last with the times of now."""
        until = time.monotonic() + told["seconds"]

        def bodies() -> Iterator[tuple[int, bytes]]:
            while time.monotonic() < until:
                node = self._next_node = (self._next_node + 1) % shape.NODES
                yield node, self._encoded(node, self._made[node].at(time.time()))

        return await self._sent(bodies(), told["at_once"])

    async def _sent(self, bodies: Iterable[tuple[int, bytes]], at_once: int) -> dict[str, Any]:
        statuses: dict[str, int] = {}
        times: list[float] = []
        self._reopened = 0
        queue = iter(bodies)
        begun = time.monotonic()

        async def worker() -> None:
            for node, body in queue:
                request = _request("POST", REPORTS_PATH, node, body)
                asked_at = time.monotonic()
                try:
                    code, answer = await self._post(node, request)
                    status = str(code)
                    if code == 200:
                        ack = msgspec.json.decode(answer, type=Ack)
                        self._forms[node].acknowledged(ack)
                        self._asked_s = ack.report_every_s
                except (OSError, asyncio.IncompleteReadError):
                    status = "cut"
                times.append(time.monotonic() - asked_at)
                statuses[status] = statuses.get(status, 0) + 1

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
        seconds = time.monotonic() - begun
        times.sort()
        return {
            "statuses": statuses,
            "seconds": round(seconds, 2),
            "per_s": round(statuses.get("200", 0) / seconds, 1),
            "p50_ms": round(times[len(times) // 2] * 1e3, 1),
            "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 1),
            "asked_for_one_each_s": self._asked_s,
            "reopened": self._reopened,
            "polls_cut_so_far": self._cut_polls,
        }

    def _body(self, node: int, points: int) -> bytes:
        form = self._forms[node]
        record = form.record(at(self._reports[node], time.time(), points))
        self._made[node] = made_record(record)
        return self._encoded(node, record)

    def _encoded(self, node: int, record: bytes) -> bytes:
        form = self._forms[node]
        return form.encode(shape.node_name(node), "e1", [(next(self._seqs[node]), record)])

    async def compare(self, _: dict[str, Any]) -> dict[str, Any]:
        """What an agent's CPU has to do for a report: columns, and JSON as it was."""
        report = at(self._reports[0], time.time(), 4)
        form = ReportColumns()
        form.acknowledged(Ack("e1", 0, form=COLUMNS_FORM, only_containers=True))

        def columns() -> bytes:
            return form.encode("n", "e", [(1, form.record(report))])

        def as_json() -> bytes:
            batch = encode_reports("n", "e", [(1, msgspec.json.encode(report))])
            return gzip.compress(batch, 1, mtime=0)

        found: dict[str, Any] = {}
        for name, make in (("columns", columns), ("json", as_json)):
            begun = time.process_time()
            sizes = [len(make()) for _ in range(COMPARED)]
            found[f"{name}_ms"] = round((time.process_time() - begun) * 1e3 / COMPARED, 2)
            found[f"{name}_bytes"] = sizes[-1]
        return found


def _request(method: str, path: str, node: int, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: brain\r\nAuthorization: Bearer {token_of(node)}\r\n"
    if body:
        head += f"Content-Type: {COLUMNS_TYPE}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def obey(port: int) -> None:
    async with asyncio.TaskGroup() as group:
        agents = Agents(port, group)
        known = {
            "connect": agents.connect,
            "report": agents.report,
            "sustain": agents.sustain,
            "compare": agents.compare,
        }
        while line := await asyncio.to_thread(sys.stdin.readline):
            told = json.loads(line)
            answer = await known[told["do"]](told)
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        # Their answers do not come any more: the brain is stopped after us.
        raise SystemExit


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(obey(int(sys.argv[1])))
