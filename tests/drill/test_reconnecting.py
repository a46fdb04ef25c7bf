"""Ten thousand agents with the real client lose the real brain, which is killed while it stores what they send, and come
back to it: how fast, how long that takes, and whether something is lost that was acknowledged."""

import contextlib
import json
import os
import re
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

from tests.bench.brain_scale import ready
from tests.bench.first_light_processes import Process, started
from tests.bench.loop_holds import LoopHolds
from tests.e2e.talking import ask
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

AGENTS = int(os.environ.get("DRILL_AGENTS", "10000"))
OUTAGES = int(os.environ.get("DRILL_OUTAGES", "2"))
OUTAGE_S = float(os.environ.get("DRILL_OUTAGE_S", "45"))
"""Longer than it takes until agents wait for the longest of their pauses."""
PROCESSES = 2
"""For the agents: where a process may have 20 000 files, one is not enough for both ends of so many connections."""
PATIENCE_S = max(240.0, AGENTS * 0.06)
STEP_S = 0.5

CLUSTER = {"BRAIN_SCALE_NODES": str(AGENTS), "BRAIN_SCALE_PODS_OF_A_NODE": "1"}


@dataclass(frozen=True, slots=True)
class Settings:
    folder: Path
    kube_port: int
    uplink: int = field(default_factory=free_port)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def socket(self) -> Path:
        return self.data / "brain.sock"

    @property
    def ca(self) -> Path:
        return self.folder / "brain-ca.crt"

    def environment(self) -> Mapping[str, str]:
        settings = {
            "CLUSTER": "true",
            "UPLINK": f"127.0.0.1:{self.uplink}",
            "CLUSTER_CONSOLE": f"127.0.0.1:{free_port()}",
            "SERVER_NAMES": "127.0.0.1",
            "SERVICE_ACCOUNT": str(self.folder / "account"),
            "MOST_NODES": str(AGENTS),
        }
        return {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT_HTTPS": str(self.kube_port),
            "NEMUTATOR_LOG_LEVEL": "warning",
            **{f"NEMUTATOR_BRAIN_{name}": value for name, value in settings.items()},
        }


@contextlib.contextmanager
def kube(folder: Path) -> Iterator[int]:
    served = folder / "kube"
    served.mkdir()
    # A brain that is killed leaves its watches in mid sentence, which is not worth reading.
    with (
        (folder / "kube.log").open("w") as log,
        spoken_to(["-m", "tests.bench.brain_scale_kube", str(served)], log) as process,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline())
        account = folder / "account"
        account.mkdir()
        (account / "token").write_text("e30.brain.c2ln")
        (account / "ca.crt").write_text((served / "ca.crt").read_text())
        yield port


@contextlib.contextmanager
def spoken_to(
    arguments: list[str], log: IO[str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A Python of ours that ends when its standard input does."""
    with subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | CLUSTER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()


@contextlib.contextmanager
def brain(settings: Settings) -> Iterator[Process]:
    data = f"--data-dir={settings.data}"
    with started("brain", settings.folder, data, environment=settings.environment()) as process:
        until(lambda: ready(process, settings.socket), "the brain is ready", within_s=PATIENCE_S)
        yield process
        process.popen.kill()


def published(settings: Settings) -> None:
    """Put down what agents find in the ConfigMap of the installation."""
    context = ssl.create_default_context(cafile=settings.folder / "account" / "ca.crt")
    url = f"https://127.0.0.1:{settings.kube_port}/api/v1/namespaces/nemutator/configmaps/nemutator-ca"

    def there() -> bool:
        try:
            with urllib.request.urlopen(url, context=context, timeout=STEP_S * 60) as answer:
                settings.ca.write_text(json.loads(answer.read())["data"]["ca.crt"])
        except urllib.error.HTTPError:
            return False
        return True

    until(there, "the brain has published its authority", within_s=60)


@contextlib.contextmanager
def agents(settings: Settings) -> Iterator["list[subprocess.Popen[str]]"]:
    each = -(-AGENTS // PROCESSES)
    with contextlib.ExitStack() as stack:
        processes = []
        for first in range(0, AGENTS, each):
            which = [
                str(settings.uplink),
                str(settings.ca),
                str(first),
                str(min(AGENTS, first + each)),
            ]
            started = spoken_to(["-m", "tests.drill.reconnecting_agents", *which])
            processes.append(stack.enter_context(started))
        yield processes


def told(processes: "list[subprocess.Popen[str]]", word: str) -> dict[str, Any]:
    """What all of them answer, added up."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{word}\n")
        process.stdin.flush()
    total: dict[str, Any] = {"failures": {}, "wanted": {}}
    for process in processes:
        assert process.stdout is not None
        answer = json.loads(process.stdout.readline())
        for counts in ("failures", "wanted"):
            for name, count in answer.pop(counts).items():
                total[counts][name] = total[counts].get(name, 0) + count
        for name, value in answer.items():
            total[name] = total.get(name, 0) + value
    return total


@dataclass
class Return:
    """What is seen of agents that come back."""

    began: float = field(default_factory=time.monotonic)
    connections: list[tuple[float, float]] = field(default_factory=list)
    handshakes: float = 0.0
    most_mib: float = 0.0
    metrics: str = ""

    def see(self, process: Process, socket: Path) -> None:
        self.metrics = ask(socket, "/metrics").text
        self.connections.append((time.monotonic(), self.counted("nemutator_http_connections")))
        self.handshakes = max(self.handshakes, self.counted("nemutator_http_handshakes"))
        self.most_mib = max(self.most_mib, process.rss_anon_mib())

    def counted(self, metric: str, label: str = 'listener="uplink"') -> float:
        lines = re.findall(rf"^{metric}{{(.*)}} (\S+)$", self.metrics, re.MULTILINE)
        return sum(float(value) for labels, value in lines if label in labels)

    def summary(self, process: Process, acknowledged: dict[str, Any]) -> dict[str, Any]:
        pairs = zip(self.connections, self.connections[1:], strict=False)
        per_s = [(later[1] - one[1]) / (later[0] - one[0]) for one, later in pairs]
        return {
            "seconds": round(time.monotonic() - self.began, 1),
            "new_connections_per_s_most": round(max(per_s, default=0.0)),
            "connections": self.connections[-1][1],
            "handshakes_at_once_seen": self.handshakes,
            "turned_away": self.counted("nemutator_http_connections_dropped_total", 'reason="too_many"'),
            "dropped_of_other_reasons": self.counted("nemutator_http_connections_dropped_total")
            - self.counted("nemutator_http_connections_dropped_total", 'reason="too_many"'),
            **LoopHolds.of(self.metrics).told(),
            "most_mib": self.most_mib,
            "wanted_per_s_most": max(acknowledged.pop("wanted").values(), default=0),
            "cpu_s_of_the_brain": round(process.cpu_s(), 1),
            "agents": acknowledged,
        }  # fmt: skip


def until_stored(
    process: Process, settings: Settings, processes: "list[subprocess.Popen[str]]"
) -> dict[str, Any]:
    """Wait until the brain has all that was put, and return what was seen meanwhile."""
    back = Return()
    told(processes, "again")

    def stored() -> bool:
        back.see(process, settings.socket)
        return not told(processes, "state")["behind"]

    until(stored, "the brain has all reports", within_s=PATIENCE_S)
    return back.summary(process, told(processes, "state"))


def until_storing(processes: "list[subprocess.Popen[str]]") -> None:
    """Wait until it has some of what is put now, and not the rest."""
    before = told(processes, "report")["acknowledged"]

    def storing() -> bool:
        return bool(told(processes, "state")["acknowledged"] > before + AGENTS / 4)

    until(storing, "the brain stores", within_s=PATIENCE_S)


@pytest.mark.timeout(3600)
def test_ten_thousand_agents_that_come_back_again_and_again_lose_nothing(tmp_path: Path) -> None:
    with kube(tmp_path) as kube_port:
        settings = Settings(tmp_path, kube_port)
        with brain(settings):
            published(settings)
        with agents(settings) as processes:
            # They begin without a brain, and so come to the first one as to each later one.
            told(processes, "report")
            time.sleep(OUTAGE_S)
            for outage in range(OUTAGES + 1):
                with brain(settings) as process:
                    sys.stdout.write(
                        f"\n{json.dumps(until_stored(process, settings, processes))}\n"
                    )
                    sys.stdout.flush()
                    if outage == OUTAGES:
                        break
                    until_storing(processes)
                for _ in range(2):
                    told(processes, "report")
                    time.sleep(OUTAGE_S / 2)
            state = told(processes, "state")
    reports = AGENTS * (1 + 3 * OUTAGES)
    assert (state["dropped"], state["acknowledged"]) == (0, reports)
    with contextlib.closing(sqlite3.connect(settings.data / "nemutator.db")) as database:
        [counts] = database.execute("SELECT count(*), count(DISTINCT node) FROM history")
        cursors = dict(database.execute("SELECT seq, count(*) FROM cursors GROUP BY seq"))
    assert counts == (reports, AGENTS)
    assert cursors == {1 + 3 * OUTAGES: AGENTS}
    sys.stdout.write(f"{AGENTS} agents, {OUTAGES} outages: {reports} reports, each stored once\n")
