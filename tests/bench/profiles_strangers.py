"""Prometheus and etcd under load, profiled by us and by their own runtimes over the same time."""

import contextlib
import http.client
import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile

from tests.e2e.go_kinds import Both, profiled_beside
from tests.testbed.parts import control_plane, prometheus
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.run import running

CLIENTS = 3
SERIES_S = 5.0
"""Prometheus scrapes itself for so long first."""
CALL_S = 120.0


@dataclass(frozen=True, slots=True)
class Stranger:
    """A server that profiles itself at /debug/pprof."""

    name: str
    pid: int
    port: int

    async def profiled(self, *, seconds: float) -> Both:
        return await profiled_beside(self.pid, lambda: self._own(seconds))

    def _own(self, seconds: float) -> Profile:
        path = f"/debug/pprof/profile?seconds={seconds:.0f}"
        return pprof.decode(call(self.port, "GET", path, within_s=seconds + CALL_S))


def call(port: int, method: str, path: str, body: str = "", *, within_s: float = CALL_S) -> bytes:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=within_s)
    with contextlib.closing(connection):
        connection.request(method, path, body=body or None)
        response = connection.getresponse()
        content = response.read()
    if response.status != http.client.OK:
        raise OSError(f"{method} {path}: {response.status}")
    return content


@contextlib.contextmanager
def loaded(ask: Callable[[], object]) -> Iterator[None]:
    """Several clients that ask again and again, as long as the block lasts."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                ask()

    clients = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for one in clients:
        one.start()
    try:
        yield
    finally:
        is_over.set()
        for one in clients:
            one.join()


@contextlib.contextmanager
def prometheus_under_load() -> Iterator[Stranger]:
    """Asked for all that it knows of itself, step by step."""
    with running() as run:
        server = prometheus.begin(run)
        address = f"{LOOPBACK}:{server.port}"
        server.scrape(
            {
                "job_name": "itself",
                "scrape_interval": "1s",
                "static_configs": [{"targets": [address]}],
            }
        )
        time.sleep(SERIES_S)
        expression = 'sum by (__name__, le) (rate({__name__=~"prometheus_.+"}[30s]))'

        def ask() -> None:
            now = time.time()
            query = {"query": expression, "start": now - 60, "end": now, "step": 1}
            call(server.port, "GET", f"/api/v1/query_range?{urlencode(query)}")

        with loaded(ask):
            yield Stranger("prometheus", server.daemon.pid, server.port)


@contextlib.contextmanager
def etcd_under_load() -> Iterator[Stranger]:
    """Keys are put and ranges of them read, as JSON over HTTP."""
    with running() as run:
        url, daemon = control_plane.start_etcd(run, "--enable-pprof")
        port = int(url.rpartition(":")[2])
        number = iter(range(1 << 40))

        def ask() -> None:
            key = f"/bench/{next(number) % 500:04d}"
            call(port, "POST", "/v3/kv/put", spoken({"key": key, "value": "x" * 500}))
            call(port, "POST", "/v3/kv/range", spoken({"key": "/bench/", "range_end": "/bench0"}))

        with loaded(ask):
            yield Stranger("etcd", daemon.pid, port)


def spoken(request: Mapping[str, str]) -> str:
    return json.dumps({name: b64encode(value.encode()).decode() for name, value in request.items()})


STRANGERS: Mapping[str, Callable[[], contextlib.AbstractContextManager[Stranger]]] = {
    "prometheus": prometheus_under_load,
    "etcd": etcd_under_load,
}
