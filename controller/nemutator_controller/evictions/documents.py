"""Evictions as the API takes and shows them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.evictions.plans import EvictionPlan, PodSelection
from nemutator_controller.evictions.records import (
    EvictablePod,
    EvictionRequest,
    EvictionState,
    RequestedEviction,
)

Json = dict[str, Any]

LONGEST_REASON = 200
LONGEST_WORD = 253
MOST_NAMED = 1_000
USUAL_WITHIN_S = 3_600.0
LEAST_WITHIN_S, MOST_WITHIN_S = 60.0, 7 * 86_400.0

EXAMPLE = '{"selector": "app=web", "namespace": "shop", "reason": "why", "planOnly": true}'


class InvalidEvictionError(ValueError):
    """The body of a request asks for nothing that can be done."""


class EvictionBody(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    pods: tuple[str, ...] = ()
    namespace: str = ""
    selector: str = ""
    node: str = ""
    all: bool = False
    reason: str = ""
    plan: str = ""
    plan_only: bool = False
    within_s: float = USUAL_WITHIN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionQuestion:
    selection: PodSelection
    all: bool
    """Whether whoever asks knows that no pod would be left."""
    reason: str
    plan: str
    """The id of the plan that was agreed to; empty: none was looked at."""
    plan_only: bool
    within_s: float


_decoder = msgspec.json.Decoder(EvictionBody)


def question(body: bytes) -> EvictionQuestion:
    """What *body* asks for, within its bounds; raises `InvalidEvictionError`."""
    try:
        asked = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidEvictionError(str(error)[:200]) from error
    if len(asked.pods) > MOST_NAMED:
        raise InvalidEvictionError(f"pods: more than {MOST_NAMED}")
    for word in (asked.namespace, asked.node):
        if len(word) > LONGEST_WORD or not word.isprintable():
            raise InvalidEvictionError("namespace, node: expected a name")
    if asked.pods and (asked.selector or asked.node or asked.all):
        raise InvalidEvictionError("pods: named pods need no selector, no node and no all")
    if not asked.pods and not (asked.selector or asked.node or asked.namespace or asked.all):
        raise InvalidEvictionError("expected pods, a selector, a node, a namespace, or all")
    reason = asked.reason.strip()
    if not asked.plan_only and not reason:
        raise InvalidEvictionError("reason: expected why, for those who own the pods")
    if len(reason) > LONGEST_REASON or not reason.isprintable():
        raise InvalidEvictionError(f"reason: expected up to {LONGEST_REASON} characters of text")
    if not (math.isfinite(asked.within_s) and LEAST_WITHIN_S <= asked.within_s <= MOST_WITHIN_S):
        raise InvalidEvictionError(
            f"withinS: expected {LEAST_WITHIN_S:.0f} to {MOST_WITHIN_S:.0f} seconds"
        )
    selection = PodSelection(
        pods=tuple(_named(word, asked.namespace) for word in asked.pods),
        namespace=asked.namespace,
        selector=asked.selector,
        node=asked.node,
    )
    return EvictionQuestion(
        selection=selection,
        all=asked.all,
        reason=reason,
        plan=asked.plan,
        plan_only=asked.plan_only,
        within_s=asked.within_s,
    )


def planned(plan: EvictionPlan) -> Json:
    """What a person reads before agreeing."""
    return {
        **_document("EvictionPlan"),
        "id": plan.id,
        "takesAll": plan.takes_all,
        "missing": list(plan.missing),
        "pods": [
            {**_pod(each.pod), "evicted": not each.why_not, "why": each.why_not}
            for each in plan.evictions
        ],
    }


def shown(request: EvictionRequest, evictions: Sequence[RequestedEviction]) -> Json:
    counts = Counter(each.state for each in evictions)
    return {
        **_document("Eviction"),
        **_request(request, counts),
        "pods": [
            {**_pod(each.pod), "state": each.state, "stateAt": each.at, "why": each.why}
            for each in evictions
        ],
    }


def listed(found: Sequence[tuple[EvictionRequest, Mapping[EvictionState, int]]]) -> Json:
    items = [_request(request, counts) for request, counts in found]
    return {**_document("EvictionList"), "items": items}


def _request(request: EvictionRequest, counts: Mapping[EvictionState, int]) -> Json:
    return {
        "id": request.id,
        "at": request.at,
        "until": request.until,
        "by": request.by,
        "reason": request.reason,
        "selection": request.selection,
        "counts": dict(counts),
    }


def _pod(pod: EvictablePod) -> Json:
    workload = pod.workload
    return {
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "node": pod.node,
        "workload": "" if workload is None else f"{workload.kind}/{workload.name}",
        "ready": pod.is_ready,
    }


def _named(word: str, namespace: str) -> tuple[str, str]:
    first, slash, second = word.partition("/")
    found = (first, second) if slash else (namespace, first)
    if not all(0 < len(part) <= LONGEST_WORD and part.isprintable() for part in found):
        raise InvalidEvictionError(f"pods: expected NAMESPACE/NAME, not {word[:80]!r}")
    if namespace and found[0] != namespace:
        raise InvalidEvictionError(f"pods: {word[:80]!r} is not in namespace {namespace[:80]}")
    return found


def _document(kind: str) -> Json:
    return {"apiVersion": names.API_VERSION, "kind": kind}
