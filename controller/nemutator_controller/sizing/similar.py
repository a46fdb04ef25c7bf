"""What a workload that is new may need, by others that run the same image.

It is a guess and says so: nothing of it was measured where it is to be used. So it is for people only, stays
provisional, whatever it rests on, and has no limit of memory.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.documents import Advice, Confidence, RecommendedAmounts
from nemutator_controller.sizing.recommendation import LIMIT_AFTER_S

MOST_SIMILAR = 50
"""Of one image that are compared: more say nothing new."""

MOST_CONFIDENCE = 0.2
ALONE_CONFIDENCE = 0.1
"""Of one other workload."""

_MB = 1_000_000


@dataclass(slots=True)
class _Known:
    cpu_millis: list[int] = field(default_factory=list)
    memory_mb: list[int] = field(default_factory=list)


def with_similar(advice: Sequence[Advice], images: Iterable[str]) -> list[Advice]:
    """*advice*, where those that have no value yet get what others of their image were advised; *images* has what each
    of them runs, without its version, and nothing where that is not known."""
    pairs = list(zip(advice, images, strict=True))
    known = {(image, one.container): _Known() for one, image in pairs if image and _is_new(one)}
    if not known:
        return list(advice)
    for one, image in pairs:
        found = known.get((image, one.container))
        if found is not None and len(found.cpu_millis) < MOST_SIMILAR and _is_known(one):
            _note(found, one)
    return [
        _guessed(one, found, image)
        if _is_new(one) and (found := known.get((image, one.container))) and found.cpu_millis
        else one
        for one, image in pairs
    ]


def repository(image: str) -> str:
    """*image* without its tag and digest: `registry:5000/shop/cart:1.2@sha256:…` is `registry:5000/shop/cart`."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


def _is_new(one: Advice) -> bool:
    return one.state == "not_yet"


def _is_known(one: Advice) -> bool:
    """Whether it has seen a day at least, and was not kept from what it needs."""
    return one.state == "firm" and one.span_s >= LIMIT_AFTER_S and one.requests.cpu is not None


def _note(found: _Known, one: Advice) -> None:
    if one.requests.cpu is not None:
        found.cpu_millis.append(parse_quantity(one.requests.cpu).nanos // 10**6)
    if one.requests.memory is not None:
        found.memory_mb.append(parse_quantity(one.requests.memory).nanos // 10**9 // _MB)


def _guessed(one: Advice, found: _Known, image: str) -> Advice:
    count = len(found.cpu_millis)
    sure = MOST_CONFIDENCE if count > 1 else ALONE_CONFIDENCE
    others = "another workload" if count == 1 else f"{count} other workloads"
    # Too little CPU slows down, too little memory kills.
    cpu = round(statistics.median(found.cpu_millis))
    memory = f"{max(found.memory_mb)}M" if found.memory_mb else None
    return msgspec.structs.replace(
        one,
        state="provisional",
        reason=f"a guess by {others} of the image {image}: {one.reason}",
        requests=RecommendedAmounts(cpu=f"{cpu}m", memory=memory),
        confidence=Confidence(cpu=sure, memory=sure if memory else 0.0),
    )
