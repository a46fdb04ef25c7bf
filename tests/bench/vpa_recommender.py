"""VPA's own recommender as a process, with what it has heard of containers from a Prometheus and from a metrics server.

What it is fed is known sample by sample, so that its amounts can be held against ours.
"""

import contextlib
import http.client
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.strategies.vpa_recommender import VpaAmounts, VpaSample

from tests.bench.first_light_processes import EndedError, Process, running
from tests.bench.vpa_programs import MODULE, VERSION, built
from tests.testbed.running.ports import free_port

CONTAINER = "app"
SIDES = {"target": "target", "lower": "lowerBound", "upper": "upperBound"}
"""Of ours, by how it calls them."""

_POD_LABEL = "pod_label_"
_ROUNDS = re.compile(
    r'^vpa_recommender_execution_latency_seconds_count\{step="total"[^}]*\} (\d+)$', re.MULTILINE
)
_STEPS = re.compile(
    r'^vpa_recommender_execution_latency_seconds_sum\{step="(\w+)"[^}]*\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Fed:
    """One container of the pod, the workload and the VerticalPodAutoscaler of one name."""

    name: str
    namespace: str
    history: Sequence[VpaSample]
    live: VpaSample | None = None
    """What the metrics server says of it; in whole seconds, thousandths of a core and bytes."""

    @property
    def samples(self) -> list[VpaSample]:
        return [*self.history, *([self.live] if self.live else [])]


@dataclass(slots=True)
class VpaSources:
    """What a Prometheus and a metrics server answer about *fed*."""

    fed: Sequence[Fed]
    asked: list[str] = field(default_factory=list)

    def routes(self) -> list[web.AbstractRouteDef]:
        return [
            web.route("*", "/prometheus/api/v1/query_range", self._range),
            web.route("*", "/prometheus/api/v1/query", self._labels),
            web.get("/apis/metrics.k8s.io/v1beta1/pods", self._live),
        ]

    async def _range(self, request: web.Request) -> web.Response:
        query = str((await request.post())["query"])
        self.asked.append(query)
        is_cpu = query.startswith("rate(container_cpu_usage_seconds_total{")
        assert is_cpu or query.startswith("container_memory_working_set_bytes{"), query
        return _matrix(
            {
                "metric": {"namespace": one.namespace, "pod": one.name, "container": CONTAINER},
                "values": [
                    (each.at, repr(each.cores if is_cpu else each.memory_bytes))
                    for each in one.history
                ],
            }
            for one in self.fed
            if one.history
        )

    async def _labels(self, request: web.Request) -> web.Response:
        self.asked.append(str((await request.post())["query"]))
        return _matrix(
            {
                "metric": {
                    "kubernetes_namespace": one.namespace,
                    "kubernetes_pod_name": one.name,
                    **{_POD_LABEL + name: value for name, value in labels(one).items()},
                },
                "values": [(one.history[-1].at, "1")],
            }
            for one in self.fed
            if one.history
        )

    async def _live(self, request: web.Request) -> web.Response:
        items = [
            {
                "metadata": {"name": one.name, "namespace": one.namespace},
                "timestamp": f"{datetime.fromtimestamp(live.at, UTC):%Y-%m-%dT%H:%M:%SZ}",
                "window": "60s",
                "containers": [{"name": CONTAINER, "usage": _usage(live)}],
            }
            for one in self.fed
            if (live := one.live)
        ]
        listed = {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "items": items}
        return web.Response(body=msgspec.json.encode(listed), content_type="application/json")


def labels(one: Fed) -> dict[str, str]:
    return {"app": one.name}


def live_sample(at: int, millis: int, memory_bytes: int) -> VpaSample:
    """As it reads *millis* of a core; between two of them, because both sides round down."""
    return VpaSample(at, (millis + 0.5) / 1_000, memory_bytes)


def _usage(live: VpaSample) -> dict[str, str]:
    return {"cpu": f"{int(live.cores * 1_000)}m", "memory": str(int(live.memory_bytes))}


def _matrix(series: Iterator[Any]) -> web.Response:
    data = {"resultType": "matrix", "result": list(series)}
    body = msgspec.json.encode({"status": "success", "data": data})
    return web.Response(body=body, content_type="application/json")


def workload(one: Fed, *, memory: str | None = None) -> Any:
    template = {
        "metadata": {"labels": labels(one)},
        "spec": pod(one, memory=memory)["spec"],
    }
    spec = {"replicas": 0, "selector": {"matchLabels": labels(one)}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _named(one), "spec": spec}


def pod(one: Fed, *, memory: str | None = None) -> Any:
    """Which requests *memory*, where that is said."""
    container: dict[str, Any] = {"name": CONTAINER, "image": "none"}
    if memory:
        container["resources"] = {"requests": {"memory": memory}}
    spec = {"containers": [container]}
    named = {**_named(one), "labels": labels(one)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec}


def autoscaler(one: Fed) -> Any:
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": _named(one),
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": one.name},
            "updatePolicy": {"updateMode": "Off"},
        },
    }


def _named(one: Fed) -> dict[str, Any]:
    return {"name": one.name, "namespace": one.namespace}


@dataclass(frozen=True, slots=True)
class Recommender:
    process: Process
    _port: int

    def rounds(self) -> int:
        """That have ended; 0, too, while it does not answer yet."""
        found = _ROUNDS.search(self._metrics())
        return int(found[1]) if found else 0

    def steps_s(self) -> dict[str, float]:
        """How long all rounds together took, by its own account."""
        return {name: float(seconds) for name, seconds in _STEPS.findall(self._metrics())}

    def has_made(self, rounds: int) -> Callable[[], bool]:
        def made() -> bool:
            if self.process.popen.poll() is not None:
                raise EndedError(self.process)
            return self.rounds() >= rounds

        return made

    def _metrics(self) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        return ""


@contextlib.contextmanager
def recommending(
    folder: Path, *, kubeconfig: Path, sources: str, interval_s: float
) -> Iterator[Recommender]:
    """The process, which asks *sources* about the past, and looks each *interval_s*."""
    program = built(f"{MODULE}/pkg/recommender", f"vpa-recommender-{VERSION}")
    port = free_port()
    argv = [
        str(program),
        f"--kubeconfig={kubeconfig}",
        f"--address=127.0.0.1:{port}",
        f"--recommender-interval={interval_s}s",
        # Its own limit would be measured, and not what it does.
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
        "--storage=prometheus",
        f"--prometheus-address={sources}/prometheus",
        "--prometheus-cadvisor-job-name=",
        "--metric-for-pod-labels=up{job='pods'}[8d]",
        f"--pod-label-prefix={_POD_LABEL}",
        "--container-pod-name-label=pod",
        "--container-name-label=container",
        "--v=1",
    ]
    with running("vpa-recommender", argv, folder) as process:
        yield Recommender(process, port)


def amounts(status: Any) -> Mapping[str, VpaAmounts]:
    """What it wrote about the container, by our names of the sides."""
    (found,) = status["recommendation"]["containerRecommendations"]
    assert found["containerName"] == CONTAINER
    return {
        side: VpaAmounts(
            _whole(found[theirs]["cpu"], 10**6), _whole(found[theirs]["memory"], 10**9)
        )
        for side, theirs in SIDES.items()
    }


def _whole(text: str, unit_nanos: int) -> int:
    amount, rest = divmod(parse_quantity(text).nanos, unit_nanos)
    assert not rest, text
    return amount
