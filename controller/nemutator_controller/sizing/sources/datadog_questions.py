"""What Datadog is asked about containers: the body of `POST /api/v2/query/timeseries`.

Its Agent's check of kubelet says what containers use and request; one question has both figures of all containers, or
of those of some namespaces where they are many. Where two series are of one container, the larger counts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

PATH = "/api/v2/query/timeseries"
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}
API_KEY, APPLICATION_KEY = "DD-API-KEY", "DD-APPLICATION-KEY"
"""Names of headers."""

CPU, MEMORY = "kubernetes.cpu.usage.total", "kubernetes.memory.working_set"
CPU_REQUEST, MEMORY_REQUEST = "kubernetes.cpu.requests", "kubernetes.memory.requests"
RUNNING = "kubernetes.containers.running"

CLUSTER, NAMESPACE, POD, CONTAINER = (
    "kube_cluster_name",
    "kube_namespace",
    "pod_name",
    "kube_container_name",
)
OWNER_KIND, OWNER_NAME = "kube_ownerref_kind", "kube_ownerref_name"
"""Its tags."""

_BY_CONTAINER = (NAMESPACE, POD, CONTAINER)
# A pod has one owner that manages it: these make no more series of it.
_WITH_OWNER = (*_BY_CONTAINER, OWNER_KIND, OWNER_NAME)

_VALUE = re.compile(r"[a-z0-9]([a-z0-9._-]{0,198}[a-z0-9])?")
"""Namespaces and clusters are called so; nothing else gets into a query, whoever has said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatadogQuestion:
    queries: Sequence[str]
    begin: float
    end: float
    """The moment itself is not asked for."""
    step_s: int

    def body(self) -> bytes:
        names = [f"q{number}" for number in range(len(self.queries))]
        attributes = {
            "formulas": [{"formula": name} for name in names],
            "from": round(self.begin * 1_000),
            "interval": self.step_s * 1_000,
            "queries": [
                {"data_source": "metrics", "name": name, "query": query}
                for name, query in zip(names, self.queries, strict=True)
            ],
            "to": round(self.end * 1_000),
        }
        return msgspec.json.encode(
            {"data": {"attributes": attributes, "type": "timeseries_request"}}
        )


def is_value(text: str) -> bool:
    """Whether *text* can be asked for as a value of a tag."""
    return _VALUE.fullmatch(text) is not None


def site_url(site: str) -> str:
    """Where the API of *site* is, such as `datadoghq.eu`; an address is its own."""
    return site if "://" in site else f"https://api.{site}"


def usage(scope: str, *, step_s: int) -> Sequence[str]:
    """Cores on average and the most memory, of each container and step."""
    return (
        _query("max", CPU, scope, _BY_CONTAINER, f"avg, {step_s}"),
        _query("max", MEMORY, scope, _WITH_OWNER, f"max, {step_s}"),
    )


def requests(scope: str, *, step_s: int) -> Sequence[str]:
    return tuple(
        _query("max", metric, scope, _BY_CONTAINER, f"max, {step_s}")
        for metric in (CPU_REQUEST, MEMORY_REQUEST)
    )


def running(scope: str, *, step_s: int) -> Sequence[str]:
    """How many containers each namespace had, those of pods that have gone among them."""
    return (_query("sum", RUNNING, scope, (NAMESPACE,), f"max, {step_s}"),)


def scope_of(cluster: str, namespaces: Iterable[str] | None) -> str:
    """*cluster* may be empty; None: all namespaces. Raises `ValueError` for what can be no value."""
    named = None if namespaces is None else sorted(namespaces)
    if not all(map(is_value, [*filter(None, [cluster]), *(named or ())])):
        raise ValueError("a name that no cluster and no namespace can have")
    parts = [f"{CLUSTER}:{cluster}"] if cluster else []
    if named is not None:
        parts.append(f"{NAMESPACE} IN ({', '.join(named)})")
    return " AND ".join(parts) or "*"


def _query(how: str, metric: str, scope: str, by: Sequence[str], rollup: str) -> str:
    return f"{how}:{metric}{{{scope}}} by {{{','.join(by)}}}.rollup({rollup})"
