"""The brain with 15 000, 60 000 and 150 000 pods on 500, 2 000 and 5 000 nodes: memory, CPU per report, its
large answers.

The real process in cluster mode has one core. The other is for an API server of nothing but bytes
and for the agents, which keep two TLS connections for each node, one waiting for profile requests
and one that posts a report of 134 groups and 100 processes with the summaries of a minute, as a
brain of so many nodes asks for. Reports are made by the agent's own encoder, before each round; a light client
sends them: the agent's own is aiohttp's, which would need more of the one core that is left than the brain has,
so that it would be measured in the brain's place. What one brain can take is found by posting as fast as it
answers: three rounds of one report from each node, and then a minute without a pause. What the brain does once a minute
falls on one of the rounds or on none, and all of it on the minute, which therefore is judged.

While all that happens somebody asks /healthz every 20 ms, which under full load waits for some turns of the loop. How
long one turn took is told by the brain's own metric, also of the moment at which all connections end together.
"""

import contextlib
import http.client
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nemutator_common import names
from nemutator_common.admission_snapshots import ADVICE_PATH
from nemutator_common.wire import LONGEST_PACE_S

from tests.bench import brain_scale_shape as shape
from tests.bench.first_light_processes import Process, started
from tests.bench.frame import Result, aim
from tests.bench.loop_holds import LoopHolds
from tests.e2e.talking import ask, connected
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

SYNC_S = 300.0
ANSWER_S = 300.0
POINTS = 8
"""Of each container in the first report, as after an absence of the brain: advice begins there."""
SUMMARIES = round(LONGEST_PACE_S / shape.SUMMARY_S)
"""And in each of the others."""
AT_ONCE = 24
"""Reports that are on their way."""
MINUTE_S = 60.0
FEW = 10
"""Connections that are not the agents': of the API server, and of who asks."""

SETTINGS = {"MOST_NODES": shape.NODES, "SIZED_CONTAINERS": 2 * shape.WORKLOADS + 1_000}

Figures = dict[str, Any]


def bench() -> Result:
    measured = {str(nodes): measured_with(nodes) for nodes in shape.SIZES}
    largest = measured[str(shape.SIZES[-1])]
    minute, advice = largest["minute"], largest["advice"]
    page, agent = largest["topology"]["one_namespace"], largest["agent"]
    return Result(
        measured=measured,
        aims=(
            aim("GiB of RssAnon, the most of all moments", largest["most_gib"], "<=", 1.0),
            aim("connections refused", largest["connect"]["refused"], "<=", 0),
            aim("reports per second of one core, with real connections and polls, for a minute with all that it does in each",
                minute["per_s"], ">=", 500),
            aim("the same by the CPU time of the brain",
                round(1e3 / minute["cpu_ms_per_report"], 1), ">=", 500),
            aim("reports that were not stored", largest["not_stored"], "<=", 0),
            aim("containers with advice", advice["items"], ">=", 2 * WORKLOADS_OF_LARGEST),
            aim("seconds to the advice of all containers", advice["seconds"], "<=", 1.0),
            aim("times that all advice held up the loop for more than 100 ms",
                advice["loop_held_over_100_ms"], "<=", 0),
            aim("ms to the topology of one namespace", page["seconds"] * 1e3, "<=", 300),
            aim("times that the topology of one namespace did",
                page["loop_held_over_100_ms"], "<=", 0),
            aim("times that something did in a round or in that minute",
                sum(one["loop_held_over_100_ms"] for one in (*largest["rounds"], minute)), "<=", 0),
            aim("times that the begin of all connections did, and that their end at the same moment did",
                sum(largest[one]["loop_held_over_100_ms"] for one in ("connect", "all_end")), "<=", 0),
            aim("ms of an agent's CPU for a report, as a part of that for JSON",
                round(agent["columns_ms"] / agent["json_ms"], 2), "<=", 1.0),
        ),
    )  # fmt: skip


WORKLOADS_OF_LARGEST = 30 * shape.SIZES[-1] // shape.PODS_PER_WORKLOAD


def measured_with(nodes: int) -> Figures:
    """What a cluster of *nodes* needs, measured by a process that knows no other size."""
    environment = os.environ | {"BRAIN_SCALE_NODES": str(nodes)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.brain_scale"],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    figures: Figures = json.loads(done.stdout)
    return figures


def measure(folder: Path) -> Figures:
    with kube(folder) as port, brain(folder, port) as (process, uplink):
        data = folder / "data"
        begun, figures = time.monotonic(), Figures()
        watcher = Watcher(data / "brain.sock", process)
        until(lambda: ready(process, data / "brain.sock"), "the brain is ready", within_s=SYNC_S)
        figures["sync"] = {
            "seconds": round(time.monotonic() - begun, 1),
            "cpu_s": round(process.cpu_s(), 1),
            "rss_anon_mib": process.rss_anon_mib(),
        }
        with watcher.watching():
            with agents(uplink) as told:
                figures |= with_agents(told, watcher, process, data)
                watcher.reset()
            until(
                lambda: connections(data / "brain.sock") < FEW, "all have gone", within_s=ANSWER_S
            )
            figures["all_end"] = watcher.told()
        figures["most_gib"] = round(watcher.most_mib / 1024, 3)
        figures["not_stored"] = sum(
            count
            for one in (*figures["rounds"], figures["minute"])
            for status, count in one["statuses"].items()
            if status != "200"
        )
        return figures


def with_agents(told: Any, watcher: "Watcher", process: Process, data: Path) -> Figures:
    figures = Figures()
    figures["agent"] = told(do="compare")
    watcher.reset()
    connected_all = told(do="connect") | {"rss_anon_mib": process.rss_anon_mib()}
    figures["connect"] = connected_all | watcher.told()
    rounds = []
    for number in range(3):
        cpu_s = process.cpu_s()
        watcher.reset()
        points = SUMMARIES if number else POINTS
        done = told(do="report", points=points, at_once=AT_ONCE)
        reports = sum(done["statuses"].values())
        done |= {
            "cpu_ms_per_report": round((process.cpu_s() - cpu_s) * 1e3 / reports, 2),
            "rss_anon_mib": process.rss_anon_mib(),
            **watcher.told(),
        }
        rounds.append(done)
    figures["rounds"] = rounds
    figures["minute"] = minute_of_reports(told, watcher, process, data)
    token = (data / "link-token").read_text().strip()
    figures["advice"] = asked(watcher, "/api/v1/advice", token)
    figures["advice_for_admission"] = asked(watcher, ADVICE_PATH, token)
    figures["advice_again"] = asked(watcher, ADVICE_PATH, token)
    figures["topology"] = {
        "one_node": asked(watcher, "/api/v1/topology?labelSelector=node%3Dnode-7", token),
        "one_namespace": asked(watcher, "/api/v1/topology?namespace=team-7", token),
        "all": asked_by_pages(watcher, "/api/v1/topology", token),
    }
    return figures


def connections(socket: Path) -> float:
    line = rf"^{names.HTTP_CONNECTIONS.name}(?:{{.*}})? (\S+)$"
    return sum(map(float, re.findall(line, ask(socket, "/metrics").text, re.MULTILINE)))


def minute_of_reports(told: Any, watcher: "Watcher", process: Process, data: Path) -> Figures:
    """Reports as fast as the brain answers: what it does once a minute is in it once, wherever it begins."""
    watcher.reset()
    began, cpu_s = time.time(), process.cpu_s()
    done: Figures = told(do="sustain", at_once=AT_ONCE, seconds=MINUTE_S)
    cpu_s = process.cpu_s() - cpu_s
    return done | {
        "cpu_share": round(cpu_s / done["seconds"], 2),
        "cpu_ms_per_report": round(cpu_s * 1e3 / done["statuses"]["200"], 2),
        **watcher.told(),
        "rss_anon_mib": process.rss_anon_mib(),
        "histograms_saved": histograms_since(data, began),
        "database_mib": round(
            sum(path.stat().st_size for path in data.glob("nemutator.db*")) / 2**20, 1
        ),
    }


def histograms_since(data: Path, moment: float) -> int:
    """Containers of which what was reported since *moment* is on disk."""
    with contextlib.closing(
        sqlite3.connect(f"file:{data / 'nemutator.db'}?mode=ro", uri=True)
    ) as database:
        found: int = database.execute(
            "SELECT COUNT(*) FROM histograms WHERE heard_at >= ?", (moment,)
        ).fetchone()[0]
        return found


class Watcher:
    """Asks how the brain is, again and again: the slowest answer, and the most memory."""

    def __init__(self, socket: Path, process: Process) -> None:
        self._socket = socket
        self._process = process
        self._slowest_s = 0.0
        self._holds = LoopHolds(())
        self._stop = threading.Event()
        self.most_mib = 0.0

    def reset(self) -> None:
        self._slowest_s = 0.0
        self._holds = LoopHolds.seen(self._socket)

    def told(self) -> Figures:
        """Since the reset. Under full load who asks waits for some turns of the loop, none of which need be long."""
        holds = LoopHolds.seen(self._socket).since(self._holds)
        return {"slowest_answer_ms": round(self._slowest_s * 1e3, 1), **holds.told()}

    def request(self, path: str, token: str) -> tuple[float, bytes, bool]:
        connection = http.client.HTTPConnection("localhost", timeout=ANSWER_S)
        connection.sock = connected(self._socket)
        connection.sock.settimeout(ANSWER_S)
        with contextlib.closing(connection):
            begun = time.monotonic()
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            pieces, whole = [], True
            try:
                while piece := response.read(1 << 20):
                    pieces.append(piece)
            except http.client.IncompleteRead as error:
                # The listener gives an answer 30 s.
                pieces, whole = [*pieces, error.partial], False
            return time.monotonic() - begun, b"".join(pieces), whole

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            begun = time.monotonic()
            with contextlib.suppress(OSError):
                ask(self._socket, "/healthz")
            self._slowest_s = max(self._slowest_s, time.monotonic() - begun)
            self.most_mib = max(self.most_mib, self._process.rss_anon_mib())


def asked(watcher: Watcher, path: str, token: str) -> Figures:
    watcher.reset()
    before = watcher.most_mib
    seconds, body, whole = watcher.request(path, token)
    figures: Figures = {
        "seconds": round(seconds, 2),
        "mib": round(len(body) / 2**20, 2),
        "whole": whole,
        **watcher.told(),
        "more_rss_mib": round(watcher.most_mib - before, 1),
    }
    if b'"AdviceList"' in body[:200]:
        items = json.loads(body)["items"]
        figures["items"] = len(items)
        figures["with_value"] = sum(item["state"] != "not_yet" for item in items)
        figures["with_requests_now"] = sum(bool(item["requests_now"]["cpu"]) for item in items)
    return figures


def asked_by_pages(watcher: Watcher, path: str, token: str) -> Figures:
    """All that *path* has, a page at a time."""
    watcher.reset()
    before, begun, after = watcher.most_mib, time.monotonic(), ""
    pages = nodes = size = 0
    slowest_s = 0.0
    while True:
        continued = f"?continue={after}" if after else ""
        seconds, body, whole = watcher.request(path + continued, token)
        if not whole:
            break
        page = json.loads(body)
        pages, nodes, size = pages + 1, nodes + len(page["nodes"]), size + len(body)
        slowest_s = max(slowest_s, seconds)
        after = page["next"]
        if not after:
            break
    return {
        "seconds": round(time.monotonic() - begun, 2),
        "mib": round(size / 2**20, 2),
        "whole": whole and nodes == shape.NODES,
        "pages": pages,
        "slowest_page_s": round(slowest_s, 2),
        **watcher.told(),
        "more_rss_mib": round(watcher.most_mib - before, 1),
    }


def ready(process: Process, socket: Path) -> bool:
    if process.popen.poll() is not None:
        raise RuntimeError(process.log.read_text()[-2000:])
    with contextlib.suppress(OSError):
        return ask(socket, "/readyz").status == 200
    return False


@contextlib.contextmanager
def kube(folder: Path) -> Iterator[int]:
    served = folder / "kube"
    served.mkdir()
    with subprocess.Popen(
        ["taskset", "-c", "1", sys.executable, "-m", "tests.bench.brain_scale_kube", str(served)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        yield int(process.stdout.readline())
        process.stdin.close()


@contextlib.contextmanager
def brain(folder: Path, kube_port: int) -> Iterator[tuple[Process, int]]:
    account = folder / "account"
    account.mkdir()
    (account / "token").write_text("e30.brain.c2ln")
    (account / "ca.crt").write_text((folder / "kube" / "ca.crt").read_text())
    uplink = free_port()
    settings = SETTINGS | {
        "CLUSTER": "true",
        "UPLINK": f"127.0.0.1:{uplink}",
        "CLUSTER_CONSOLE": f"127.0.0.1:{free_port()}",
        "SERVER_NAMES": "127.0.0.1",
        "SERVICE_ACCOUNT": str(account),
    }
    environment: Mapping[str, str] = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT_HTTPS": str(kube_port),
        "NEMUTATOR_LOG_LEVEL": "warning",
        **{f"NEMUTATOR_BRAIN_{name}": str(value) for name, value in settings.items()},
    }
    with started(
        "brain", folder, f"--data-dir={folder / 'data'}", cpu=0, environment=environment
    ) as process:
        yield process, uplink


@contextlib.contextmanager
def agents(uplink: int) -> Iterator[Any]:
    with subprocess.Popen(
        ["taskset", "-c", "1", sys.executable, "-m", "tests.bench.brain_scale_agents", str(uplink)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None

        def told(**what: object) -> Figures:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the agents' process has ended")
            answer: Figures = json.loads(line)
            sys.stderr.write(f"{what}: {answer}\n")
            return answer

        yield told
        process.stdin.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="brain-scale-") as name:
        sys.stdout.write(json.dumps(measure(Path(name))))
