"""Prometheus on loopback, which scrapes what a test tells it to."""

import contextlib
import http.client
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.testbed.building import made, unpacked
from tests.testbed.parts.asking import is_well
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 60.0
CALL_S = 60.0

Job = Mapping[str, object]
"""An entry of Prometheus's own scrape_configs."""


class PrometheusRefusedError(Exception):
    """Prometheus's answer was an error; its words."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """How to reach Prometheus, and its configuration."""

    port: int
    configuration: Path
    daemon: Daemon

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def scrape(self, *jobs: Job) -> None:
        """Scrape these from now on, and nothing else."""
        following = self.configuration.with_suffix(".following")
        following.write_text(configured(jobs))
        os.replace(following, self.configuration)
        self._call("POST", "/-/reload")

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that an instant query finds: each with its metric and its value."""
        asked = urlencode({"query": expression})
        answer = json.loads(self._call("GET", f"/api/v1/query?{asked}"))
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def _call(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=CALL_S)
        with contextlib.closing(connection):
            connection.request(method, path)
            response = connection.getresponse()
            said = response.read().decode()
        if response.status != http.client.OK:
            raise PrometheusRefusedError(f"{method} {path}: {response.status}: {said}")
        return said


def begin(run: Run, *jobs: Job, name: str = "prometheus", address: str = LOOPBACK) -> Prometheus:
    """Start it in *run*, scraping *jobs*, and return when it answers queries; *address*: where others reach it."""
    root = made.debian("prometheus")
    port = free_port()
    folder = run.folder(name)
    configuration = run.file(f"{name}/prometheus.yaml", configured(jobs))
    daemon = run.daemon(
        name,
        [
            unpacked.program(root, "prometheus"),
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'series'}",
            f"--web.listen-address={address}:{port}",
            "--web.enable-lifecycle",
            "--web.enable-remote-write-receiver",
            "--log.level=warn",
        ],
        environment=unpacked.environment(root),
        ready=lambda: is_well(port, "/-/ready"),
        within_s=READY_S,
    )
    return Prometheus(port, configuration, daemon)


def configured(jobs: Sequence[Job]) -> str:
    """Prometheus's configuration; in JSON, which is YAML."""
    return json.dumps({"scrape_configs": list(jobs)})
