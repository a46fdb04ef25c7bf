"""The document of /api/v1/advice: for each container a value with its reason, or only a reason."""

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np
from nemutator_common import names
from nemutator_common.admission_snapshots import Amounts, RecommendedContainer

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.keys import PROGRAM, ContainerKey, Requested
from nemutator_controller.sizing.known_usage import UsageColumns
from nemutator_controller.sizing.ports import GrowingMemory
from nemutator_controller.sizing.recommendation import (
    NO_BOUND,
    STRATEGY,
    RecommendedColumns,
    Whole,
    recommend,
)


# Structs: of 20 000 containers there are 120 000 of these at once, which a dataclass takes ten times as long
# to make, and the garbage collector need not look at them.
class RecommendedAmounts(msgspec.Struct, frozen=True, gc=False):
    """`Amounts`, of which there are four in each advice."""

    cpu: str | None = None
    memory: str | None = None


class Confidence(msgspec.Struct, frozen=True, gc=False):
    """Of what is advised, from 0 to 1."""

    cpu: float = 0.0
    memory: float = 0.0


NO_AMOUNTS = RecommendedAmounts()
NO_CONFIDENCE = Confidence()


class Use(msgspec.Struct, frozen=True, gc=False):
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


class HourlyRecommendation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a policy that follows use hourly is told, for the hour that is now."""

    strategy: str
    begins_at: float
    cpu: str | None
    """None: the reason says why advice holds."""
    changes: int
    """In 24 hours, of the few that there may be."""
    reason: str


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
    requests_now: RecommendedAmounts
    requests: RecommendedAmounts
    limits: RecommendedAmounts
    lower: RecommendedAmounts = NO_AMOUNTS
    """What requests less than this is too small, whatever else there is."""
    upper: RecommendedAmounts = NO_AMOUNTS
    """What requests more than this is too large; it comes nearer the more is known, and is not there after minutes."""
    confidence: Confidence = NO_CONFIDENCE
    pods: int = 1
    """Of the workload, that run: each of them requests so much."""
    remarks: tuple[str, ...] = ()
    """What its language's own limits mean for this, with a remedy."""
    hourly: HourlyRecommendation | None = None
    """None: no policy follows its use hourly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "AdviceList"
    items: list[Advice]


_UNSURE = 1e-12
"""By how much a product may be wrong, as a part of it; many times what it is."""

UNLISTED_S = 3600.0
"""A container that ended before there was a value for it is listed for so long."""

PASSING_S = 60.0
"""A program is listed once it has run for so long: every shell and compiler is one that lives for seconds."""


def advice_list(
    seen: UsageColumns,
    requested: Mapping[ContainerKey, Requested],
    growing: GrowingMemory,
    *,
    now: float,
) -> list[Advice]:
    """Advice for all that was *seen*; *requested* is what containers request now."""
    recommended = recommend(seen, now=now)
    given = [state != "not_yet" for state in recommended.states]
    growths = [growing.of(key) for key in seen.keys]
    # Of what leaks, no amount is enough: to request more pays for the leak.
    remembered = [
        is_given and growth is None for is_given, growth in zip(given, growths, strict=True)
    ]
    cpu, memory = recommended.cpu_millis, recommended.memory_mb
    wanted = _amounts(_texts(cpu.value, given, "m"), _texts(memory.value, remembered, "M"))
    limited = recommended.limits_memory.tolist()
    return [
        Advice(
            namespace=key.namespace,
            owner_kind=key.owner_kind,
            owner=key.owner,
            container=key.container,
            strategy=STRATEGY,
            state=state,
            reason=reason,
            points=points,
            span_s=span_s,
            last_at=last_at,
            use=use,
            requests_now=NO_AMOUNTS if asked is None else _requested(asked.cpu_millis, asked.memory_bytes),
            requests=requests,
            limits=RecommendedAmounts(None, requests.memory) if is_limited and requests.memory else NO_AMOUNTS,
            lower=lower,
            upper=upper,
            confidence=confidence,
            pods=1 if asked is None else asked.pods,
        )
        for (
            key, state, reason, points, span_s, last_at, use, asked, requests, is_limited, lower,
            upper, confidence,
        ) in zip(
            seen.keys,
            recommended.states,
            _reasons(seen.keys, recommended.reasons, growths),
            seen.points.tolist(),
            _rounded(seen.span_s, 1),
            seen.last_at.tolist(),
            _uses(seen, recommended, given),
            map(requested.get, seen.keys),
            wanted,
            limited,
            _amounts(_texts(cpu.lower, given, "m"), _texts(memory.lower, remembered, "M")),
            _amounts(_texts(cpu.upper, given, "m"), _texts(memory.upper, remembered, "M")),
            _confidences(recommended, given, remembered),
            strict=True,
        )
    ]  # fmt: skip


def _texts(amounts: Whole, are_known: Sequence[bool], unit: str) -> list[str | None]:
    return [
        f"{amount}{unit}" if is_known and amount != NO_BOUND else None
        for amount, is_known in zip(amounts.tolist(), are_known, strict=True)
    ]


def _amounts(cpu: Iterable[str | None], memory: Iterable[str | None]) -> list[RecommendedAmounts]:
    return list(map(RecommendedAmounts, cpu, memory))


def _confidences(
    recommended: RecommendedColumns, given: Sequence[bool], remembered: Sequence[bool]
) -> list[Confidence]:
    cpu = np.where(given, recommended.cpu_millis.confidence, 0.0)
    memory = np.where(remembered, recommended.memory_mb.confidence, 0.0)
    return list(map(Confidence, _rounded(cpu, 3), _rounded(memory, 3)))


def _uses(seen: UsageColumns, recommended: RecommendedColumns, given: Sequence[bool]) -> list[Use]:
    return list(
        map(
            Use,
            _rounded(seen.cpu_p50, 4),
            _rounded(seen.cpu_p95, 4),
            seen.memory_p95.tolist(),
            seen.memory_max.tolist(),
            _rounded(seen.throttled, 3),
            _rounded(seen.cpu_waiting, 3),
            _rounded(seen.memory_waiting, 3),
            seen.kills.tolist(),
            _rounded(np.where(given, recommended.memory_margin, 1.0), 3),
        )
    )


def _rounded(numbers: Numbers, digits: int) -> list[float]:
    """As a person would. Scaled, what lies beside the middle between two may fall to the wrong one: there it is done
    digit by digit."""
    scale = 10.0**digits
    scaled = np.asarray(numbers * scale, dtype=np.float64)
    whole = np.rint(scaled)
    rounded: list[float] = (whole / scale).tolist()
    unsure = np.abs(np.abs(scaled - whole) - 0.5) < _UNSURE * np.maximum(1.0, np.abs(scaled))
    for at in np.flatnonzero(unsure).tolist():
        rounded[at] = round(float(numbers[at]), digits)
    return rounded


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
    left = frozenset(elsewhere)
    return RecommendedContainer(
        namespace=advice.namespace,
        owner_kind=advice.owner_kind,
        owner=advice.owner,
        container=advice.container,
        strategy=advice.strategy,
        state=advice.state,
        reason="; ".join(filter(None, [advice.reason, *sorted(set(elsewhere.values()))])),
        points=advice.points,
        requests=_without(advice.requests, left),
        limits=_without(advice.limits, left),
    )


def _without(amounts: RecommendedAmounts, left: Collection[str]) -> Amounts:
    return Amounts(
        cpu=None if "cpu" in left else amounts.cpu,
        memory=None if "memory" in left else amounts.memory,
    )


SUMMED = "a sum of processes"
"""Part of the reason for a program: use of its processes between two samples is missing, and memory that
they share counts twice."""


def _reasons(
    keys: Sequence[ContainerKey], said: Sequence[str], growths: Sequence[str | None]
) -> list[str]:
    return [
        reason
        if growth is None and key.owner_kind != PROGRAM
        else "; ".join(filter(None, (reason, SUMMED if key.owner_kind == PROGRAM else "", growth)))
        for key, reason, growth in zip(keys, said, growths, strict=True)
    ]


@functools.lru_cache(maxsize=4096)
def _requested(cpu: int | None, memory: int | None) -> RecommendedAmounts:
    return RecommendedAmounts(
        cpu=None if cpu is None else f"{cpu}m", memory=None if memory is None else str(memory)
    )
