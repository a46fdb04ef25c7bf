"""The document of /api/v1/advice: for each container a value with its reason, or only a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.sizing.keys import PROGRAM, ContainerKey, Requested
from nemutator_controller.sizing.recommendation import STRATEGY, NotYet, Recommendation, recommend
from nemutator_controller.sizing.usages import KnownUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """As Kubernetes writes them; None: not said, or not known."""

    cpu: str | None = None
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What the advice was made of."""

    cpu_p50: float
    cpu_p95: float
    memory_p95: int
    memory_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    strategy: str
    state: Literal["firm", "provisional", "not_yet"]
    reason: str
    points: int
    span_s: float
    last_at: float
    use: Use
    requests_now: Amounts
    requests: Amounts
    limits: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceList:
    apiVersion: str = "nemutator.io/v1"  # noqa: N815 - Kubernetes spells it so
    kind: str = "AdviceList"
    items: list[Advice]


def advice_list(seen: Iterable[KnownUsage], asked: Mapping[ContainerKey, Requested]) -> AdviceList:
    """Advice for all that was *seen*; *asked*: what containers ask for now."""
    return AdviceList(items=[_advice(one, asked.get(one.key)) for one in seen])


def essence(advice: AdviceList) -> list[tuple[object, ...]]:
    """What of it changes a decision: not how many points there are by now."""
    return [
        (a.namespace, a.owner_kind, a.owner, a.container, a.state, a.requests, a.limits)
        for a in advice.items
    ]


SUMMED = "a sum of processes"
"""Told of a program: what its processes did unseen is missing, what they share counts twice."""


def _reason(key: ContainerKey, advised: Recommendation | NotYet) -> str:
    parts = [advised.reason, SUMMED if key.owner_kind == PROGRAM else ""]
    return "; ".join(part for part in parts if part)


def _advice(seen: KnownUsage, now: Requested | None) -> Advice:
    advised = recommend(seen)
    given = isinstance(advised, Recommendation)
    cpu = f"{advised.cpu_millis}m" if isinstance(advised, Recommendation) else None
    memory = f"{advised.memory_mb}M" if isinstance(advised, Recommendation) else None
    return Advice(
        namespace=seen.key.namespace,
        owner_kind=seen.key.owner_kind,
        owner=seen.key.owner,
        container=seen.key.container,
        strategy=STRATEGY,
        state=advised.state if isinstance(advised, Recommendation) else "not_yet",
        reason=_reason(seen.key, advised),
        points=seen.points,
        span_s=round(seen.span_s, 1),
        last_at=seen.last_at,
        use=Use(
            cpu_p50=round(seen.cpu_p50, 4),
            cpu_p95=round(seen.cpu_p95, 4),
            memory_p95=seen.memory_p95,
            memory_max=seen.memory_max,
        ),
        requests_now=Amounts(
            cpu=None if now is None or now.cpu_millis is None else f"{now.cpu_millis}m",
            memory=None if now is None or now.memory_bytes is None else str(now.memory_bytes),
        ),
        requests=Amounts(cpu=cpu, memory=memory),
        limits=Amounts(memory=memory) if given else Amounts(),
    )
