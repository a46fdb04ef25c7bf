"""The verb `resources`: what containers request and may use.

The API server refuses a request above its limit, and kubelet evicts by class: so a request never
rises above its limit, a limit never falls below its request, and the class stays unless the policy
allows another. A share is taken of what the pod itself requested, never of what we made of it. What a namespace,
the nodes or the pod itself would not let run is not made.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from nemutator_controller.kube.quantities import Quantity, QuantityError, parse_quantity
from nemutator_controller.mutations.advisor import (
    Advisor,
    Name,
    RecommendedAmount,
    Side,
    WithoutAdvice,
    WorkloadRef,
)
from nemutator_controller.mutations.amount_trials import (
    CONTAINERS,
    MOST_KNOWN,
    AmountTrial,
    ContainerTrial,
    MadeAmounts,
    Place,
    Ready,
    ReadyAmount,
    ReadySection,
    Texts,
    amount_path,
    ready_made,
    written_at_once,
)
from nemutator_controller.mutations.chosen_containers import Globs
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.paths import FieldStep, Json
from nemutator_controller.mutations.qos import class_of, quantity
from nemutator_controller.mutations.resource_bounds import ResourceBounds, broken_by, own_bounds
from nemutator_controller.mutations.rounded_amounts import share, whole_above, whole_below

VERB = "resources"
ADVICE_VERB = "prom_metrics"
"""The word of `skip-mutation` for values that come from measurements."""

QUANTITY = re.compile(r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$")
"""What people write. The API server reads more, like `-` and `+.e0`, and exponents of any length."""


class Amount(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """Where a value comes from: exactly one of the first four."""

    value: str | None = None
    ratio: Annotated[float, msgspec.Meta(gt=0, le=100)] | None = None
    """A share of what the pod requests in the same place; without that nothing is done."""
    ratio_of_limit: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    """Of a request: a share of its limit; without a limit nothing is done."""
    advice: bool = False
    """The recommendation for the container."""
    min: str | None = None
    max: str | None = None
    raise_limit: bool = False
    """Of a request: a limit that is there and lower than it is raised to it; else the request is held below it."""


class ContainerResources(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    containers: Globs = ("*",)
    """Globs on their names."""
    requests: Annotated[Mapping[Name, Amount], msgspec.Meta(min_length=1)] = {}
    limits: Annotated[Mapping[Name, Amount], msgspec.Meta(min_length=1)] = {}
    qos: Literal["Keep", "Change"] = "Keep"
    """Whether this may change the pod's quality-of-service class."""


class Circumstances(msgspec.Struct, frozen=True):
    """What the verb depends on beside the object."""

    workload: WorkloadRef
    advisor: Advisor
    measured: bool = True
    """Whether the pod allows values that come from measurements."""
    bounds: Callable[[], ResourceBounds] = ResourceBounds
    """Of its namespace and its cluster; without any where nothing is known of them."""


def apply(
    draft: Draft,
    resources: ContainerResources,
    circumstances: Circumstances,
    *,
    policy: str,
    sizing: "Sizing | None" = None,
) -> list[str]:
    """Write into *draft*; the warnings say what the policy wants and was not done.

    *sizing*: what was made of the same amounts before by these *resources*.
    """
    own = own_bounds(draft.manifest, draft.kind)
    bounds = circumstances.bounds().beside(own)
    if sizing is not None and not own and not draft.leaves_any and sizing.written(draft, bounds):
        return []
    trial = AmountTrial(draft)
    warnings: list[str] = []
    for name in _named_containers(draft, resources.containers):
        made = _made(trial, name, resources, circumstances, bounds)
        for side, resource, why in made.refused:
            warnings.append(f"policy {policy}: {amount_path(name, side, resource)}: {why}")
    earlier = class_of(draft.manifest, draft.kind)
    if not trial.written:
        return warnings
    if resources.qos == "Keep" and (later := trial.quality()) != earlier:
        return [*warnings, f"policy {policy}: resources left alone: {earlier} would become {later}"]
    if bounds:
        before = broken_by(draft.original, draft.kind, {}, bounds)
        broken = broken_by(draft.manifest, draft.kind, trial.amounts(), bounds)
        for why in (text for bound, text in broken.items() if bound not in before):
            return [*warnings, f"policy {policy}: resources left alone: {why}"]
    for place, (text, reason) in trial.written.items():
        if place in trial.again and list(map(quantity, trial.before(place))) == [quantity(text)]:
            continue  # The amount came down and went up again.
        draft.set(amount_path(*place), text, Author(VERB, policy, reason))
    return warnings


class Sizing:
    """What one policy says of amounts, and what comes out of it for containers by what they ask for: most ask for the
    same few amounts. It follows no advice, which says more of a container than that."""

    def __init__(self, resources: ContainerResources, policy: str) -> None:
        self.policy = policy
        self.chosen = _chosen(resources.containers)
        """Whether it is for a container of that name."""
        self._resources = resources
        self._author = functools.partial(Author, VERB, policy)
        self._ready: dict[tuple[object, ...], Ready | None] = {}
        self._parts = {
            name: Sizing(replace(resources, requests={name: amount}), policy)
            for name, amount in _apart(resources)
        }
        """By resource, where what is made of each depends on no other: most pods that ask for a new amount of one ask for
        known ones of the others."""

    def ready_of(self, texts: Texts, bounds: ResourceBounds) -> Ready | None:
        """What is written into a container that asks for *texts*, and is not the only one of its pod; None: that needs
        more thought."""
        key = texts, bounds.ranges, *bounds.largest.items()
        if key not in self._ready:
            if len(self._ready) >= MOST_KNOWN:
                self._ready.clear()
            of = self._of_parts if self._parts else self._of_all
            self._ready[key] = of(texts, bounds)
        return self._ready[key]

    def _of_all(self, texts: Texts, bounds: ResourceBounds) -> Ready | None:
        trial = ContainerTrial(texts)
        made = _made(trial, "", self._resources, _WITHOUT_ADVICE, bounds)
        return None if trial.again else ready_made(texts, made, self._author)

    def _of_parts(self, texts: Texts, bounds: ResourceBounds) -> Ready | None:
        requests, limits = texts
        amounts: list[ReadyAmount] = []
        for name, part in self._parts.items():
            own = tuple([one for one in requests if one[0] == name])
            beside = tuple([one for one in limits if one[0] == name])
            found = part.ready_of((own, beside), bounds)
            if found is None:
                return None
            for section in found:
                amounts += section.amounts
        return (ReadySection(FieldStep("requests"), tuple(amounts)),) if amounts else ()

    def written(self, draft: Draft, bounds: ResourceBounds) -> bool:
        """Whether all of it was ready, and is written into *draft*."""
        return written_at_once(
            draft,
            self.chosen,
            lambda texts: self.ready_of(texts, bounds),
            lambda found: may_be(draft.manifest, draft.original, draft.kind, found, bounds),
        )


def _apart(resources: ContainerResources) -> Sequence[tuple[Name, Amount]]:
    """Requests of which none depends on another amount than its limit; none, where there are no two of them."""
    asked = tuple(resources.requests.items())
    alone = not resources.limits and not any(amount.raise_limit for _, amount in asked)
    return asked if alone and len(asked) > 1 else ()


def may_be(
    manifest: Json, original: Json, kind: str, found: Mapping[str, Ready], bounds: ResourceBounds
) -> bool:
    """Whether an object may have what was *found* for its containers: it breaks no bound that the *original* does not
    break."""
    if not bounds:
        return True
    instead = {name: _amounts_of(ready) for name, ready in found.items()}
    broken = broken_by(manifest, kind, instead, bounds)
    return not broken or broken.keys() <= broken_by(original, kind, {}, bounds).keys()


def _amounts_of(ready: Ready) -> Mapping[Side, Mapping[str, Quantity]]:
    sides: dict[Side, dict[str, Quantity]] = {}
    for section in ready:
        side: Side = "requests" if section.side.name == "requests" else "limits"
        for each in section.amounts:
            amount = quantity(each.after[0])
            if amount is not None:
                sides.setdefault(side, {})[each.step.name] = amount
    return sides


def _made(
    trial: AmountTrial,
    name: str,
    resources: ContainerResources,
    circumstances: Circumstances,
    bounds: ResourceBounds,
) -> MadeAmounts:
    """Tried in *trial*, for the container of that *name*."""
    refused: list[tuple[Side, Name, str]] = []
    first = len(trial.written)
    for side, resource, amount in _wanted(resources):
        place = Place(name, side, resource)
        made = _amount(trial, place, amount, circumstances, bounds)
        if isinstance(made, str):
            refused.append((side, resource, made))
        elif made is not None:
            trial.set(place, str(made.amount), made.reason)
    raised = {each for each, amount in resources.requests.items() if amount.raise_limit}
    for resource in sorted({*resources.limits, *raised}):
        _settle(trial, Place(name, "limits", resource), bounds)
    written = [
        (place.side, place.resource, *said) for place, said in [*trial.written.items()][first:]
    ]
    return MadeAmounts(tuple(written), tuple(refused))


_WITHOUT_ADVICE = Circumstances(WorkloadRef("", "", ""), WithoutAdvice("nobody is asked"))


def follows_advice(resources: ContainerResources) -> bool:
    """Whether what is made of a container depends on more than what it asks for."""
    return any(each.advice for each in (*resources.requests.values(), *resources.limits.values()))


def faults(resources: ContainerResources) -> Iterator[str]:
    """What the types alone do not exclude; each fault begins with the field."""
    if not resources.requests and not resources.limits:
        yield "requests: name at least one amount here or in limits"
    for name, amount in resources.limits.items():
        if amount.ratio_of_limit is not None:
            yield f"limits.{name}.ratioOfLimit: only requests are a share of limits"
        if amount.raise_limit:
            yield f"limits.{name}.raiseLimit: only requests raise their limit"
    for side in ("requests", "limits"):
        for name, amount in getattr(resources, side).items():
            yield from (f"{side}.{name}{fault}" for fault in _amount_faults(amount))


def _amount_faults(amount: Amount) -> Iterator[str]:
    given = (amount.value, amount.ratio, amount.ratio_of_limit)
    if sum(each is not None for each in given) + amount.advice != 1:
        yield ": expected exactly one of value, ratio, ratioOfLimit, advice: true"
    bounds: dict[str, Quantity] = {}
    for field in ("value", "min", "max"):
        text = getattr(amount, field)
        if text is None:
            continue
        try:
            bounds[field] = parse_quantity(text)
        except QuantityError as error:
            yield f".{field}: {error}"
            continue
        if not QUANTITY.fullmatch(text):
            yield f".{field}: {text!r}: expected a number with a suffix such as m, k, Mi, e3"
        if bounds[field].nanos <= 0:
            yield f".{field}: expected more than 0"
    if "min" in bounds and "max" in bounds and bounds["min"] > bounds["max"]:
        yield ".min: above max"


def _wanted(resources: ContainerResources) -> Iterator[tuple[Side, Name, Amount]]:
    # Limits come first, because requests are held below them.
    for name, amount in resources.limits.items():
        yield "limits", name, amount
    for name, amount in resources.requests.items():
        yield "requests", name, amount


def _chosen(globs: tuple[str, ...]) -> Callable[[str], bool]:
    return bool if globs == ("*",) else functools.partial(fits_any, globs=globs)


def _named_containers(draft: Draft, globs: tuple[str, ...]) -> Iterator[str]:
    for listed in draft.value(CONTAINERS):
        for container in listed or ():
            name = container.get("name") if isinstance(container, dict) else None
            if isinstance(name, str) and fits_any(name, globs):
                yield name


def _amount(
    trial: AmountTrial,
    place: Place,
    amount: Amount,
    circumstances: Circumstances,
    bounds: ResourceBounds,
) -> RecommendedAmount | str | None:
    """The amount for *place*, why there is none, or None when nothing is to be done."""
    current = trial.found(place)
    if amount.advice:
        if not circumstances.measured:
            return None
        advice = circumstances.advisor.advise(
            circumstances.workload, place.container, place.side, place.resource
        )
        if not isinstance(advice, RecommendedAmount):
            return advice.reason
        wanted, reason = advice.amount, advice.reason
    elif amount.ratio is not None:
        whole = trial.asked_for(place)
        if whole is None:
            return None
        wanted, reason = share(whole, amount.ratio), f"{amount.ratio:g} of {whole}"
    elif amount.ratio_of_limit is not None:
        limit = trial.found(place.beside)
        if limit is None:
            return None
        wanted = share(limit, amount.ratio_of_limit)
        reason = f"{amount.ratio_of_limit:g} of the limit {limit}"
    else:
        assert amount.value is not None, "a policy with faults is not applied"
        wanted, reason = parse_quantity(amount.value), ""
    wanted = _bounded(wanted, amount)
    limit = trial.found(place.beside) if place.side == "requests" else None
    if amount.raise_limit and limit is not None and limit < wanted:
        limit = None
    wanted, holder = bounds.held(wanted, place.side, place.resource, limit)
    wanted = whole_above(wanted, place.resource)
    if holder:
        reason = _joined(reason, f"held within {holder}")
    if limit is not None and wanted > limit:
        wanted, reason = limit, _joined(reason, "held below the limit")
    if wanted.nanos <= 0:
        return f"left alone: {wanted} is nothing to ask for"
    return None if wanted == current else RecommendedAmount(wanted, reason)


def _joined(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def _settle(trial: AmountTrial, limit: Place, bounds: ResourceBounds) -> None:
    """Raise a limit to its request, or bring it down to as many times that as it may be: whatever the policy
    wants, they must fit together at the end.

    This comes last, because a request may come down after its limit was written.
    """
    most, least = trial.found(limit), trial.found(limit.beside)
    if most is None or least is None:
        return
    if most < least:
        trial.set(limit, str(least), "held above the request")
    highest = bounds.highest_limit(limit.resource, least)
    if limit in trial.written and highest is not None and highest[0] < most:
        trial.set(limit, str(whole_below(highest[0], limit.resource)), f"held within {highest[1]}")


def _bounded(wanted: Quantity, amount: Amount) -> Quantity:
    least, most = quantity(amount.min), quantity(amount.max)
    if least is not None:
        wanted = max(wanted, least)
    if most is not None:
        wanted = min(wanted, most)
    return wanted
