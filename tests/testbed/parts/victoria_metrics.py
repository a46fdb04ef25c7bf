"""VictoriaMetrics of a single node on loopback: one program that takes remote write and answers questions."""

import contextlib
import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.testbed.building import made
from tests.testbed.parts.asking import is_well
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 60.0
CALL_S = 60.0


@dataclass(frozen=True, slots=True)
class VictoriaMetrics:
    port: int
    daemon: Daemon

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that a query finds now: each with its metric and its value."""
        asked = urlencode({"query": expression, "nocache": 1})
        answer = json.loads(self._call("GET", f"/api/v1/query?{asked}"))
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def show_all(self) -> None:
        """What was taken so far is found from now on: by itself that is a matter of seconds."""
        self._call("GET", "/internal/force_flush")

    def _call(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=CALL_S)
        with contextlib.closing(connection):
            connection.request(method, path)
            response = connection.getresponse()
            said = response.read().decode()
        assert response.status == http.client.OK, f"{method} {path}: {response.status}: {said}"
        return said


def begin(run: Run, *flags: str, name: str = "victoria-metrics") -> VictoriaMetrics:
    """Start it in *run*, with *flags* beside those of the testbed, and return when it answers queries."""
    port = free_port()
    daemon = run.daemon(
        name,
        [
            made.victoria_metrics(),
            f"-storageDataPath={run.folder(name)}",
            f"-httpListenAddr={LOOPBACK}:{port}",
            "-memory.allowedBytes=256MB",
            "-loggerLevel=WARN",
            *flags,
        ],
        ready=lambda: is_well(port, "/health"),
        within_s=READY_S,
    )
    return VictoriaMetrics(port, daemon)
