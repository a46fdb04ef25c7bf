"""Advice in pages: which of it a request wants, in which order, and what all of it together would free."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.list_pages import Position, TokenError, page_of
from nemutator_controller.queries import AskedPage, PageQueryError, asked_page, is_called
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts
from nemutator_controller.sizing.keys import is_of

ORDERS = ("name", "waste")

GIB_OF_A_CORE = 8
"""What a core costs in GiB, roughly, everywhere: both wastes are ordered by as one, as `nemutator advise` does."""

UNKNOWN_WASTE = -1e15
"""Less than anything that would have to be added."""

_PAGING = frozenset({"limit", "continue", "orderBy", "search", "workload"})
_GIB = 1 << 30


class AdviceNotAskedWellError(Exception):
    """What is wrong with a query."""


@dataclass(frozen=True, slots=True)
class AskedAdvice:
    """The query of a page."""

    page: AskedPage
    workload: str | None = None
    """KIND/NAME, or a name."""

    def finds(self, one: Advice) -> bool:
        return is_called(f"{one.namespace}/{one.owner}/{one.container}", self.page.search)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceTotals:
    """Of all containers that have a request and advice, each with all its pods: neither a page nor a search narrows them."""

    containers: int = 0
    requested_cpu_cores: float = 0.0
    used_cpu_cores: float = 0.0
    """The 95th percentile."""
    freed_cpu_cores: float = 0.0
    """By following the advice; below 0 where it asks for more."""
    requested_memory_bytes: float = 0.0
    used_memory_bytes: float = 0.0
    """At most."""
    freed_memory_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvicePage:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "AdviceList"
    totals: AdviceTotals
    next: str
    """What `continue` takes for the next page; empty on the last one."""
    remaining: int
    items: list[Advice]


def asked_advice(query: Mapping[str, str]) -> AskedAdvice | None:
    """None: nothing is asked of a page, and all advice is wanted as it is. Raises AdviceNotAskedWellError."""
    if _PAGING.isdisjoint(query):
        return None
    try:
        page = asked_page(query, orders=ORDERS, usual=None)
    except PageQueryError as error:
        raise AdviceNotAskedWellError(str(error)) from error
    return AskedAdvice(page, query.get("workload") or None)


def advice_page(all_of_it: Sequence[Advice], asked: AskedAdvice) -> AdvicePage:
    """What *asked* wants of *all_of_it*. Raises AdviceNotAskedWellError."""
    known = [one for one in all_of_it if is_of(asked.workload, one.owner_kind, one.owner)]
    try:
        page = page_of(
            [one for one in known if asked.finds(one)],
            lambda one: advice_position(one, asked.page.order),
            order=asked.page.order,
            limit=asked.page.limit,
            after=asked.page.after,
        )
    except TokenError as error:
        raise AdviceNotAskedWellError(f"continue: {error}") from error
    return AdvicePage(
        totals=advice_totals(known),
        next=page.next,
        remaining=page.remaining,
        items=list(page.items),
    )


def advice_position(one: Advice, order: str) -> Position:
    value = 0.0
    if order == "waste":
        cpu, memory = _freed(one)
        # What nothing can be said of yet comes last, after what requests nothing.
        value = 2 * UNKNOWN_WASTE if one.state == "not_yet" else UNKNOWN_WASTE
        if cpu is not None or memory is not None:
            value = (cpu or 0.0) + (memory or 0.0) / _GIB / GIB_OF_A_CORE
    return value, (one.namespace, one.owner, one.owner_kind, one.container)


def advice_totals(advice: Iterable[Advice]) -> AdviceTotals:
    containers = 0
    sums = [0.0] * 6
    for one in advice:
        cpu, memory = _freed(one)
        if cpu is None and memory is None:
            continue
        pods, now = max(1, one.pods), _amounts(one.requests_now)
        containers += 1
        sums[0] += pods * (now[0] or 0.0)
        sums[1] += pods * one.use.cpu_p95
        sums[2] += cpu or 0.0
        sums[3] += pods * (now[1] or 0.0)
        sums[4] += pods * one.use.memory_max
        sums[5] += memory or 0.0
    return AdviceTotals(
        containers=containers,
        requested_cpu_cores=round(sums[0], 6),
        used_cpu_cores=round(sums[1], 6),
        freed_cpu_cores=round(sums[2], 6),
        requested_memory_bytes=sums[3],
        used_memory_bytes=sums[4],
        freed_memory_bytes=sums[5],
    )


def _freed(one: Advice) -> tuple[float | None, float | None]:
    """Cores and bytes that all its pods would give back; None where that is not known."""
    if one.state == "not_yet":
        return None, None
    pods = max(1, one.pods)
    now, then = _amounts(one.requests_now), _amounts(one.requests)
    cpu = None if now[0] is None or then[0] is None else (now[0] - then[0]) * pods
    memory = None if now[1] is None or then[1] is None else (now[1] - then[1]) * pods
    return cpu, memory


def _amounts(amounts: RecommendedAmounts) -> tuple[float | None, float | None]:
    return _amount(amounts.cpu), _amount(amounts.memory)


# Many request the same.
@functools.lru_cache(maxsize=8192)
def _amount(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        amount = parse_quantity(text).nanos / 1e9
    except (QuantityError, OverflowError):
        return None
    return amount if math.isfinite(amount) else None
