"""The document of /api/v1/advice: for each container a value with its reason, or only a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import Amounts, RecommendedContainer

from nemutator_controller.sizing.keys import PROGRAM, ContainerKey, Requested
from nemutator_controller.sizing.known_usage import KnownUsage
from nemutator_controller.sizing.ports import GrowingMemory
from nemutator_controller.sizing.recommendation import STRATEGY, NotYet, Recommendation, recommend


# Structs, for the reason that those of `recommendation` are.
class Confidence(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Of what is advised, from 0 to 1."""

    cpu: float = 0.0
    memory: float = 0.0


NO_AMOUNTS = Amounts()
NO_CONFIDENCE = Confidence()


class Use(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The use that the advice was made from."""

    cpu_p50: float
    cpu_p95: float
    memory_p95: int
    memory_max: int
    throttled: float = 0.0
    """The share of periods in which it was stopped at its CPU limit lately."""
    cpu_waiting: float = 0.0
    """The share of the time in which some of its tasks waited for a CPU lately (PSI)."""
    memory_waiting: float = 0.0
    """The same for memory."""
    kills: int = 0
    """For memory, in two weeks."""
    memory_margin: float = 1.0
    """What the largest peak is multiplied by, after so much time, as this fleet needed it; 1 without a value."""


class Advice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
    lower: Amounts = NO_AMOUNTS
    """What requests less than this is too small, whatever else there is."""
    upper: Amounts = NO_AMOUNTS
    """What requests more than this is too large; it comes nearer the more is known."""
    confidence: Confidence = NO_CONFIDENCE
    pods: int = 1
    """Of the workload, that run: each of them requests so much."""
    remarks: tuple[str, ...] = ()
    """What its language's own limits mean for this, with a remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "AdviceList"
    items: list[Advice]


UNLISTED_S = 3600.0
"""A container that ended before there was a value for it is listed for so long."""

PASSING_S = 60.0
"""A program is listed once it has run for so long: every shell and compiler is one that lives for seconds."""


def advice_list(
    seen: Iterable[KnownUsage],
    requested: Mapping[ContainerKey, Requested],
    growing: GrowingMemory,
    *,
    now: float,
) -> list[Advice]:
    """Advice for all that was *seen*; *requested* is what containers request now."""
    return [_advice(one, requested.get(one.key), growing.of(one.key), now=now) for one in seen]


def is_listed(advice: Advice, *, now: float) -> bool:
    """Whether people are shown it: a program that is gone and never had a value is of no use to them."""
    if advice.state != "not_yet":
        return True
    if advice.owner_kind == PROGRAM and advice.span_s < PASSING_S:
        return False
    return now - advice.last_at <= UNLISTED_S


def essence(advice: Iterable[Advice]) -> list[tuple[object, ...]]:
    """The part of *advice* that can change a decision: not the number of points."""
    return [
        (a.namespace, a.owner_kind, a.owner, a.container, a.state, a.requests, a.limits)
        for a in advice
    ]


def for_admission(
    advice: Advice, elsewhere: Mapping[str, str] = MappingProxyType({})
) -> RecommendedContainer:
    """The part of *advice* that admission decides by; *elsewhere* says why a resource is left alone."""
    left = dict.fromkeys(elsewhere)
    return RecommendedContainer(
        namespace=advice.namespace,
        owner_kind=advice.owner_kind,
        owner=advice.owner,
        container=advice.container,
        strategy=advice.strategy,
        state=advice.state,
        reason="; ".join(filter(None, [advice.reason, *sorted(set(elsewhere.values()))])),
        points=advice.points,
        requests=replace(advice.requests, **left) if left else advice.requests,
        limits=replace(advice.limits, **left) if left else advice.limits,
    )


SUMMED = "a sum of processes"
"""Part of the reason for a program: use of its processes between two samples is missing, and memory that
they share counts twice."""


def _reason(key: ContainerKey, recommended: Recommendation | NotYet, growth: str | None) -> str:
    if growth is None and key.owner_kind != PROGRAM:
        return recommended.reason
    parts = [recommended.reason, SUMMED if key.owner_kind == PROGRAM else "", growth or ""]
    return "; ".join(part for part in parts if part)


def _advice(
    seen: KnownUsage, requested: Requested | None, growth: str | None, *, now: float
) -> Advice:
    recommended = recommend(seen, now=now)
    given = recommended if isinstance(recommended, Recommendation) else None
    # Of what leaks, no amount is enough: to request more pays for the leak.
    wanted, lower, upper = _sides(given, growth is None)
    limited = wanted.memory if given and given.limits_memory else None
    return Advice(
        namespace=seen.key.namespace,
        owner_kind=seen.key.owner_kind,
        owner=seen.key.owner,
        container=seen.key.container,
        strategy=STRATEGY,
        state=given.state if given else "not_yet",
        reason=_reason(seen.key, recommended, growth),
        points=seen.points,
        span_s=round(seen.span_s, 1),
        last_at=seen.last_at,
        use=Use(
            cpu_p50=round(seen.cpu_p50, 4),
            cpu_p95=round(seen.cpu_p95, 4),
            memory_p95=seen.memory_p95,
            memory_max=seen.memory_max,
            throttled=round(seen.throttled, 3),
            cpu_waiting=round(seen.cpu_waiting, 3),
            memory_waiting=round(seen.memory_waiting, 3),
            kills=seen.kills,
            memory_margin=round(given.memory_margin, 3) if given else 1.0,
        ),
        requests_now=_amounts(requested),
        requests=wanted,
        limits=NO_AMOUNTS if limited is None else Amounts(memory=limited),
        lower=lower,
        upper=upper,
        confidence=_confidence(given, growth is None),
        pods=1 if requested is None else requested.pods,
    )


def _sides(given: Recommendation | None, has_memory: bool) -> tuple[Amounts, Amounts, Amounts]:
    """What is advised, and its bounds."""
    if given is None:
        return NO_AMOUNTS, NO_AMOUNTS, NO_AMOUNTS
    cpu, memory = given.cpu_millis, given.memory_mb
    return (
        _amounts_of(cpu.value, memory.value if has_memory else None),
        _amounts_of(cpu.lower, memory.lower if has_memory else None),
        _amounts_of(cpu.upper, memory.upper if has_memory else None),
    )


def _amounts_of(cpu_millis: int, memory_mb: int | None) -> Amounts:
    return Amounts(cpu=f"{cpu_millis}m", memory=None if memory_mb is None else f"{memory_mb}M")


def _confidence(given: Recommendation | None, has_memory: bool) -> Confidence:
    if given is None:
        return NO_CONFIDENCE
    memory = given.memory_mb.confidence if has_memory else 0.0
    return Confidence(cpu=given.cpu_millis.confidence, memory=memory)


def _amounts(requested: Requested | None) -> Amounts:
    if requested is None:
        return NO_AMOUNTS
    cpu, memory = requested.cpu_millis, requested.memory_bytes
    return Amounts(
        cpu=None if cpu is None else f"{cpu}m", memory=None if memory is None else str(memory)
    )
