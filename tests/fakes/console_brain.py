"""A brain as the console's page sees it: its files and its API, answered inside the browser.

What it answers can be changed at any moment, also to nothing at all, so that a test of the page
needs no process, no port and no waiting.
"""

import copy
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nemutator_controller.console.pages import files
from playwright.sync_api import BrowserContext, Route

ORIGIN = "http://console.test"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

FILES = files()

Json = dict[str, Any]


def pressures(cpu: float = 0.0, memory: float = 0.0, io: float = 0.0) -> Json:
    def one(some: float) -> Json:
        return {"some_10s": some, "some_60s": some / 2, "full_10s": None, "full_60s": None}

    return {"cpu": one(cpu), "memory": one(memory), "io": one(io)}


UNTOLD: Json = {"cpu": None, "memory": None, "io": None}


def workload(path: str, kind: str, **changed: Any) -> Json:
    return {
        "path": path,
        "kind": kind,
        "name": path.rpartition("/")[2] or "/",
        "container_id": None,
        "pod_uid": None,
        "processes": 0,
        "cpu_cores": 0.01,
        "cpu_is_summed": False,
        "memory_bytes": 10 << 20,
        "pressures": pressures(),
        "namespace": path.split("/")[1] or "/",
        "labels": {"kind": kind},
        **changed,
    }


def process(pid: int, command: str, of: str, **changed: Any) -> Json:
    return {
        "pid": pid,
        "started_at": 1_760_000_000.0 + pid,
        "workload": of,
        "command": command,
        "script": None,
        "runtime": None,
        "runtime_version": None,
        "threads": 1,
        "cpu_cores": 0.001,
        "memory_bytes": 1 << 20,
        **changed,
    }


def node(**changed: Any) -> Json:
    """A small server: one slice with two units, a container, and what they run."""
    return {
        "name": "edge-1",
        "seen_at": 1_760_003_600.0,
        "age_s": 1.2,
        "stale": False,
        "machine": {
            "kernel": "6.12.30-amd64",
            "system": "Debian GNU/Linux 13 (trixie)",
            "cpus": 4,
            "memory_bytes": 8 << 30,
            "boot_id": "5f0c8a52-6b1c-4b1b-9d3c-0f2f1f6a2a11",
            "cpu_cores": 0.84,
            "memory_used_bytes": 3 << 30,
            "swap_used_bytes": 0,
            "load_1m": 0.71,
            "pressures": pressures(1.4, 0.0, 12.5),
            "throughput": {
                "disk_read": 0.0,
                "disk_written": 61440.0,
                "network_received": 1572864.0,
                "network_sent": None,
            },
            "file_systems": [
                {
                    "path": "/",
                    "device": "/dev/sda1",
                    "kind": "ext4",
                    "total_bytes": 40 << 30,
                    "used_bytes": 36 << 30,
                }
            ],
            "interfaces": [
                {
                    "name": "eth0",
                    "is_up": True,
                    "megabits": 1000,
                    "traffic": {"received": 2048.0, "sent": 0.0, "drops": 0.0, "errors": None},
                }
            ],
            "temperatures": [{"sensor": "core 0", "celsius": 51.4}],
        },
        "workloads": [
            workload("/", "root", cpu_cores=0.84, memory_bytes=3 << 30),
            workload("/system.slice", "slice", cpu_cores=0.6, memory_bytes=2 << 30),
            workload(
                "/system.slice/api.service",
                "unit",
                cpu_cores=0.42,
                memory_bytes=900 << 20,
                pressures=pressures(2.0),
            ),
            workload("/system.slice/ssh.service", "unit", cpu_cores=0.0, memory_bytes=6 << 20),
            workload(
                "/system.slice/docker-3f2a.scope",
                "container",
                name="3f2a90c1d2e4",
                cpu_cores=None,
                memory_bytes=None,
                pressures=UNTOLD,
            ),
        ],
        "processes": [
            process(1, "systemd", "/", memory_bytes=12 << 20),
            process(
                100,
                "api",
                "/system.slice/api.service",
                runtime="go",
                runtime_version="go1.26.8",
                threads=14,
                cpu_cores=0.4,
                memory_bytes=850 << 20,
            ),
            process(200, "sshd", "/system.slice/ssh.service"),
            process(
                300,
                "gunicorn",
                "/system.slice/docker-3f2a.scope",
                runtime="python",
                runtime_version="3.11",
                cpu_cores=None,
            ),
        ],
        "missing": [
            {
                "what": "runtime of other users' processes",
                "why": "this agent does not run as root",
                "remedy": "start it with `sudo nemutator up`",
            }
        ],
        **changed,
    }


def listed(shown: Json) -> Json:
    """What the list of nodes says of a node."""
    machine = shown["machine"]
    waiting = {what: one and one["some_10s"] for what, one in machine["pressures"].items()}
    wanted = ("kernel", "cpus", "cpu_cores", "memory_bytes", "memory_used_bytes")
    counted = {what: len(shown[what]) for what in ("workloads", "processes", "missing")}
    sums = {what: machine[what] for what in wanted} | {"waiting": waiting} | counted
    whole = {"cpu_cores": float(machine["cpus"]), "memory_bytes": machine["memory_bytes"]}
    return {what: shown[what] for what in ("name", "seen_at", "age_s", "stale")} | {
        "sums": sums,
        "ready": None,
        "unschedulable": False,
        "allocatable": whole,
        "requested": {"cpu_cores": 0.0, "memory_bytes": 0},
        "used": {"cpu_cores": machine["cpu_cores"], "memory_bytes": machine["memory_used_bytes"]},
        "pods": {"count": 0, "ready": 0, "pending": 0, "unscheduled": 0},
        "most_pods": None,
    }


def points(count: int, step_s: float = 3.0, until: float = 1_760_003_600.0) -> list[Json]:
    return [
        {
            "at": until - step_s * (count - 1 - index),
            "cpu_cores": 0.5 + (index % 20) / 40,
            "memory_used_bytes": (2 << 30) + index * (1 << 20),
            "cpu_pressure_10s": 0.0,
        }
        for index in range(count)
    ]


@dataclass
class FakeBrain:
    nodes: list[Json] = field(default_factory=lambda: [node()])
    points: list[Json] = field(default_factory=lambda: points(200))
    status: int | None = 200
    """Of every answer of the API; None: it hangs up."""
    refusal: Json = field(default_factory=lambda: {"error": "no", "remedy": "none"})
    """What it answers with any other status than 200."""
    refused: set[str] = field(default_factory=set)
    """Paths that this person may not read."""
    silent: set[str] = field(default_factory=set)
    """Paths that it cannot answer now, as while its database is away."""
    busy: bool = False
    """Whether it takes every question, and answers none until `catch_up`."""
    warning: str = ""
    """What it says of itself on each answer."""
    asked: list[str] = field(default_factory=list)
    """Paths of the API that were asked for, in their order."""
    queries: list[str] = field(default_factory=list)
    """With what they were asked for."""
    lists: dict[str, list[Json]] = field(default_factory=dict)
    """By path: the items of a list."""
    remaining: int = 0
    """How many items more there are than those of a list."""
    documents: dict[str, Json] = field(default_factory=dict)
    """By path: what is no list of items."""
    texts: dict[str, str] = field(default_factory=dict)
    """By path: what is no JSON."""
    paused: list[Json] = field(default_factory=list)
    """Nodes that look at nothing unasked."""
    posted: list[tuple[str, Any]] = field(default_factory=list)
    """What was asked to be changed: path with query, and body."""
    answers: dict[str, tuple[int, Json]] = field(default_factory=dict)
    """By path with query: status and document for a POST."""

    _waiting: list[Route] = field(default_factory=list)

    @property
    def node(self) -> Json:
        return self.nodes[0]

    def serve(self, context: BrowserContext) -> None:
        context.route(f"{ORIGIN}/**", self._answer)

    def catch_up(self) -> None:
        """Answer what was asked while it was busy, and each question at once again."""
        self.busy, waiting, self._waiting = False, self._waiting, []
        for route in waiting:
            self._answer(route)

    def _answer(self, route: Route) -> None:
        parts = urlsplit(route.request.url)
        path = parts.path
        if path.startswith("/api/"):
            if self.busy:
                self._waiting.append(route)
            else:
                self._answer_api(route, path, parts.query)
            return
        file = FILES[path]
        route.fulfill(
            body=file.body,
            headers={"content-type": file.content_type, "content-security-policy": POLICY},
        )

    def _answer_api(self, route: Route, path: str, query: str) -> None:
        headers = {"warning": f'299 nemutator "{self.warning}"'} if self.warning else {}
        self.asked.append(path)
        self.queries.append(query)
        if route.request.method == "POST":
            self._answer_post(route)
        elif self.status is None:
            route.abort("connectionrefused")
        elif self.status != 200:
            route.fulfill(status=self.status, json=self.refusal)
        elif path in self.silent:
            route.fulfill(status=503, json=self.refusal)
        elif path in self.refused:
            route.fulfill(status=403, json=self.refusal)
        elif path in self.texts:
            route.fulfill(content_type="text/plain", body=self.texts[path])
        elif path in self.documents:
            route.fulfill(headers=headers, json=self.documents[path])
        elif path == "/api/v1/nodes":
            items = [listed(shown) for shown in self.nodes]
            route.fulfill(
                headers=headers, json={"kind": "NodeList", "now": 1_760_003_601.2, "items": items}
            )
        elif path == "/api/v1/topology":
            # Of all of them at once it is far too much for a page: a name is asked for.
            [name] = parse_qs(query)["node"]
            found = [shown for shown in copy.deepcopy(self.nodes) if shown["name"] == name]
            route.fulfill(
                headers=headers, json={"kind": "Topology", "now": 1_760_003_601.2, "nodes": found}
            )
        elif path == "/api/v1/history":
            [name] = parse_qs(query)["node"]
            route.fulfill(headers=headers, json={"node": name, "points": self.points})
        else:
            items = copy.deepcopy(self.lists.get(path, []))
            route.fulfill(
                headers=headers,
                json={"items": items, "paused": self.paused, "remaining": self.remaining},
            )

    def _answer_post(self, route: Route) -> None:
        parts = urlsplit(route.request.url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        body = route.request.post_data
        self.posted.append((target, json.loads(body) if body else None))
        status, document = self.answers[target]
        route.fulfill(status=status, json=document)
