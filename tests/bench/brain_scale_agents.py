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
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec
import uvloop
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    REPORTS_PATH,
    Ack,
    Batch,
    Envelope,
    Machine,
    Pressure,
    Pressures,
    ProcessUsage,
    Report,
    Summary,
    Workload,
)

from tests.bench import brain_scale_shape as shape
from tests.fakes.reviews import account_token

UNITS = 40
HANDSHAKES = 64
PATIENCE_S = 60.0
POLL_S = 25


def templates() -> tuple[shape.Template, shape.Template]:
    """A batch with the report of a node with 30 pods of two containers and a sandbox each, and 40 units;
    and the summaries of its containers and units."""
    dice = random.Random(1)
    pressure = Pressure(1.5, 0.5, 0.0, 0.0)
    pressures = Pressures(cpu=pressure, memory=pressure, io=pressure)
    groups: list[tuple[str, str | None, str | None]] = [
        ("/", None, None),
        ("/kubepods.slice", None, None),
        ("/kubepods.slice/kubepods-burstable.slice", None, None),
        ("/system.slice", None, None),
    ]
    for pod in range(shape.PODS // shape.NODES):
        name = f"kubepods-burstable-pod@@slice{pod}@@.slice"
        path = f"/kubepods.slice/kubepods-burstable.slice/{name}"
        groups.append((path, f"@@uid{pod}@@", None))
        for container in ("c0", "c1", "c2"):
            hole = f"@@{container}_{pod}@@"
            groups.append((f"{path}/cri-containerd-{hole}.scope", f"@@uid{pod}@@", hole))
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
    report = Report(
        taken_at=3.5, machine=machine, workloads=workloads, processes=processes, missing=()
    )
    batch = msgspec.to_builtins(Batch("@@node@@", "@@epoch@@", (Envelope(1, report),)))
    # Numbers are holes only after this: as text they would have quotes.
    text = shape.compact(batch)
    text = text.replace('"seq":1,', '"seq":@@seq@@,').replace(":3.5,", ":@@at@@,")
    text = text.replace('"summaries":[]', '"summaries":[@@summaries@@]')
    summed = shape.compact(msgspec.to_builtins(summaries))[1:-1]
    summed = summed.replace(":1.5,", ":@@from@@,").replace(":2.5,", ":@@to@@,")
    return shape.Template(text), shape.Template(summed)


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
        self._batch, self._summaries = templates()
        self._polls: dict[int, Connection] = {}
        self._posts: dict[int, Connection] = {}
        self._seqs = [count(1) for _ in range(shape.NODES)]
        self._handshakes = asyncio.Semaphore(HANDSHAKES)
        self._refused = 0
        self._reopened = 0
        self._cut_polls = 0
        self._asked_s = 0.0

    async def connect(self, _: dict[str, Any]) -> dict[str, Any]:
        """Two connections for each node: one that waits for requests, one that posts."""
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for node in range(shape.NODES):
                group.create_task(self._connect(node))
        return {
            "connections": len(self._polls) + len(self._posts),
            "refused": self._refused,
            "seconds": round(time.monotonic() - begun, 1),
        }

    async def _connect(self, node: int) -> None:
        async with self._handshakes:
            for kept in (self._posts, self._polls):
                try:
                    kept[node] = await self._opened()
                    # An agent's first question: how far its reports are stored.
                    query = f"node={shape.node_name(node)}&epoch=e1"
                    await kept[node].exchange(_request("GET", f"{REPORTS_PATH}?{query}", node))
                except (OSError, asyncio.IncompleteReadError):
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
        """*each* reports of every node, *points* summaries of each container in every *of*-th."""
        statuses: dict[str, int] = {}
        times: list[float] = []
        nodes = range(told.get("nodes", shape.NODES))
        self._reopened = 0
        queue = iter([(node, number) for number in range(told["each"]) for node in nodes])
        begun = time.monotonic()
        pace_s = 1 / told["per_s"] if told.get("per_s") else 0.0
        sent = count()

        async def worker() -> None:
            for node, number in queue:
                points = told["points"] if number % told["of"] == 0 else 0
                if (early_s := begun + next(sent) * pace_s - time.monotonic()) > 0:
                    await asyncio.sleep(early_s)
                request = _request("POST", REPORTS_PATH, node, self._body(node, points))
                at = time.monotonic()
                try:
                    code, answer = await self._post(node, request)
                    status = str(code)
                    if code == 200:
                        self._asked_s = msgspec.json.decode(answer, type=Ack).report_every_s
                except (OSError, asyncio.IncompleteReadError):
                    status = "cut"
                times.append(time.monotonic() - at)
                statuses[status] = statuses.get(status, 0) + 1

        async with asyncio.TaskGroup() as group:
            for _ in range(told["at_once"]):
                group.create_task(worker())
        seconds = time.monotonic() - begun
        times.sort()
        return {
            "statuses": statuses,
            "seconds": round(seconds, 2),
            "per_s": round(statuses.get("200", 0) / seconds, 1),
            "p50_ms": round(times[len(times) // 2] * 1e3, 1),
            "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 1),
            "bytes": len(self._batch.fill(self._values(0, 1.0))),
            "asked_for_one_each_s": self._asked_s,
            "reopened": self._reopened,
            "polls_cut_so_far": self._cut_polls,
        }

    def _body(self, node: int, points: int) -> bytes:
        now = time.time()
        values = self._values(node, now)
        summed = []
        for point in range(points):
            to_at = now - shape.SUMMARY_S * (points - point - 1)
            values |= {"from": b"%.3f" % (to_at - shape.SUMMARY_S), "to": b"%.3f" % to_at}
            summed.append(self._summaries.fill(values))
        values["summaries"] = b",".join(summed)
        values["seq"] = b"%d" % next(self._seqs[node])
        return self._batch.fill(values)

    def _values(self, node: int, now: float) -> dict[str, bytes]:
        values = {
            "node": shape.node_name(node).encode(),
            "epoch": b"e1",
            "seq": b"1",
            "at": b"%.3f" % now,
            "summaries": b"",
        }
        for slot, pod in enumerate(shape.pods_of(node)):
            uid = shape.uid(pod).encode()
            values[f"uid{slot}"] = uid
            values[f"slice{slot}"] = uid.replace(b"-", b"_")
            for container in range(3):
                values[f"c{container}_{slot}"] = shape.container_id(pod, container).encode()
        return values


def _request(method: str, path: str, node: int, body: bytes = b"") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: brain\r\n"
        f"Authorization: Bearer {account_token(shape.AGENT, mark=shape.node_name(node))}\r\n"
    )
    if body:
        body = gzip.compress(body, 1, mtime=0)
        head += f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def obey(port: int) -> None:
    async with asyncio.TaskGroup() as group:
        agents = Agents(port, group)
        known = {"connect": agents.connect, "report": agents.report}
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
