"""What Prometheus is asked about containers' use: one query for each figure over all pods, or over those of some
namespaces where they are many.

A container has one series, and more where several scrape it or several of its lives touch: the largest counts, so
that nothing is added up twice. Thanos, Mimir and VictoriaMetrics take the same expressions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_controller.prometheus_answers import quoted

WINDOW_S = 300
"""Of a rate, and of a peak; steps are as long, so that nothing falls between two of them."""

CPU_TOTAL, WORKING_SET = "container_cpu_usage_seconds_total", "container_memory_working_set_bytes"
"""cAdvisor's, which kubelet serves."""

CPU_RULE, MEMORY_RULE = (
    "nemutator:container_cpu_cores:rate5m",
    "nemutator:container_memory_bytes:max5m",
)
"""What recording rules may have made of them."""

_BY = "max by (namespace, pod, container) "
_CONTAINERS = ('container!=""', 'container!="POD"')

POD_OWNER, REPLICA_SET_OWNER, JOB_OWNER = (
    "kube_pod_owner",
    "kube_replicaset_owner",
    "kube_job_owner",
)
REQUESTS = "kube_pod_container_resource_requests"
"""kube-state-metrics'."""


@dataclass(frozen=True, slots=True)
class UsageExpressions:
    cores: str
    memory: str


def usage_expressions(namespaces: Iterable[str] | None, *, recorded: bool) -> UsageExpressions:
    """For containers of *namespaces*, or of all; *recorded*: rules have them ready."""
    if recorded:
        matched = _selector((), namespaces)
        return UsageExpressions(f"{_BY}({CPU_RULE}{matched})", f"{_BY}({MEMORY_RULE}{matched})")
    matched = _selector(_CONTAINERS, namespaces)
    return UsageExpressions(
        f"{_BY}(rate({CPU_TOTAL}{matched}[{WINDOW_S}s]))",
        f"{_BY}(max_over_time({WORKING_SET}{matched}[{WINDOW_S}s]))",
    )


def counted(*, recorded: bool) -> Sequence[str]:
    """How many containers each namespace has, by what is known of their memory and by what is known of their CPU."""
    if recorded:
        return [f"count by (namespace) ({rule})" for rule in (MEMORY_RULE, CPU_RULE)]
    matched = _selector(_CONTAINERS, None)
    return [f"count by (namespace) ({metric}{matched})" for metric in (WORKING_SET, CPU_TOTAL)]


_FIGURES = ("max", "avg", "min", "count")


@dataclass(frozen=True, slots=True)
class SeedExpressions:
    """What the first nemutator asked: figures of rates over *span_s* in steps."""

    cpu_max: str
    cpu_avg: str
    cpu_min: str
    cpu_points: str
    memory_max: str
    memory_avg: str
    memory_min: str
    memory_points: str


def seed_expressions(
    namespaces: Iterable[str] | None, *, span_s: int, step_s: int
) -> SeedExpressions:
    matched = _selector(_CONTAINERS, namespaces)
    rates = f"rate({CPU_TOTAL}{matched}[{step_s}s])[{span_s}s:{step_s}s]"
    levels = f"{WORKING_SET}{matched}[{span_s}s:{step_s}s]"
    cpu = (f"{_BY}({one}_over_time({rates}))" for one in _FIGURES)
    memory = (f"{_BY}({one}_over_time({levels}))" for one in _FIGURES)
    return SeedExpressions(*cpu, *memory)


def owners(metric: str, span_s: int) -> str:
    """Who owned what within the last *span_s*: pods that have gone are among them."""
    return f"max_over_time({metric}[{span_s}s])"


def requests() -> str:
    return f'{REQUESTS}{{resource=~"cpu|memory"}}'


def recording_rules() -> Mapping[str, Any]:
    """For people who would rather have Prometheus compute them once than at each question."""
    all_of = usage_expressions(None, recorded=False)
    return {
        "groups": [
            {
                "name": "nemutator",
                "interval": "1m",
                "rules": [
                    {"record": CPU_RULE, "expr": all_of.cores},
                    {"record": MEMORY_RULE, "expr": all_of.memory},
                ],
            }
        ]
    }


@dataclass(frozen=True, slots=True)
class Shard:
    """What is asked at once; None: all namespaces."""

    namespaces: tuple[str, ...] | None
    series: int


def shards(series: Mapping[str, int], *, most: int) -> Sequence[Shard]:
    """All namespaces in one question while they have at most *most* series; else as few questions as that
    takes. A namespace is not divided."""
    total = sum(series.values())
    if total <= most:
        return [Shard(None, total)] if total else []
    found: list[Shard] = []
    names: list[str] = []
    count = 0
    for name in sorted(series):
        if names and count + series[name] > most:
            found.append(Shard(tuple(names), count))
            names, count = [], 0
        names.append(name)
        count += series[name]
    return [*found, Shard(tuple(names), count)]


def only(series: Mapping[str, int], namespaces: Collection[str] | None) -> Mapping[str, int]:
    """Those of *namespaces*; None: all."""
    if namespaces is None:
        return series
    return {name: count for name, count in series.items() if name in namespaces}


def _selector(always: Sequence[str], namespaces: Iterable[str] | None) -> str:
    named = (
        [] if namespaces is None else ["namespace=~" + quoted("|".join(map(_literal, namespaces)))]
    )
    return "{" + ",".join([*always, *named]) + "}"


def _literal(name: str) -> str:
    """As RE2 takes it for itself."""
    return "".join(one if one.isalnum() or one in "-_" else f"\\{one}" for one in name)
