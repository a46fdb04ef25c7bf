"""The verb `resources`: what containers ask for and may use.

The API server refuses a request above its limit, and kubelet evicts by class: so a request never
rises above its limit, a limit never falls below its request, and the class stays unless the policy
says otherwise. A share is taken of what the pod itself asked for, never of what we made of it.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Literal

import msgspec
from nemutator_common.decisions import Maybe
from nemutator_common.quantities import Format, Quantity, QuantityError, parse_quantity

from nemutator_controller.mutations.advising import Advised, Advisor, Name, Side, Workload
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Field, Path, named
from nemutator_controller.mutations.qos import class_of, quantity

VERB = "resources"
ADVICE_VERB = "prom_metrics"
"""As `skip-mutation` calls values that come from measurements."""

_MILLI = 10**6
_UNIT = 10**9


class Amount(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a value comes from: exactly one of the first three."""

    value: str | None = None
    ratio: float | None = None
    """Of what the pod asks for in the same place; nothing there, nothing done."""
    advice: bool = False
    """What the container has been seen to need."""
    min: str | None = None
    max: str | None = None


class Resources(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    containers: tuple[str, ...] = ("*",)
    """Globs on names."""
    requests: Mapping[Name, Amount] = {}
    limits: Mapping[Name, Amount] = {}
    qos: Literal["Keep", "Change"] = "Keep"
    """Whether the pod may get another quality-of-service class by this."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the verb must know beside the object."""

    workload: Workload
    advisor: Advisor
    original: bool = True
    """Whether the object has what its author asked for, and not what we made of it."""
    measured: bool = True
    """Whether the pod lets values come from measurements."""


def apply(
    draft: Draft, resources: Resources, circumstances: Circumstances, *, policy: str
) -> list[str]:
    """Write into *draft*; the warnings say what was wanted and not done."""
    if any(draft.value(Path((Field("resources"),)))):
        return [f"policy {policy}: resources left alone: the pod has them for all its containers"]
    earlier = class_of(draft.thing, draft.kind)
    touched: dict[Path, Maybe] = {}
    warnings: list[str] = []
    author = Author(VERB, policy)
    for name in _container_names(draft, resources.containers):
        container = named("containers", name)
        for side, resource, amount in _wanted(resources):
            path = container / Field("resources") / Field(side) / Field(resource)
            made = _amount(draft, path, name, side, resource, amount, circumstances)
            if isinstance(made, str):
                warnings.append(f"policy {policy}: {path}: {made}")
            elif made is not None:
                touched.setdefault(path, draft.value(path))
                draft.set(path, str(made.amount), replace(author, reason=made.reason))
    later = class_of(draft.thing, draft.kind)
    if later != earlier and resources.qos == "Keep":
        for path, before in touched.items():
            draft.put(path, before, author)
        return [*warnings, f"policy {policy}: resources left alone: {earlier} would become {later}"]
    return warnings


def faults(resources: Resources) -> Iterator[str]:
    """What types alone do not say; each begins with the field."""
    if not resources.requests and not resources.limits:
        yield "requests: name at least one amount here or in limits"
    if not resources.containers or len(resources.containers) > 64:
        yield "containers: expected one to 64 names"
    for side in ("requests", "limits"):
        for name, amount in getattr(resources, side).items():
            yield from (f"{side}.{name}{fault}" for fault in _amount_faults(amount))


def _amount_faults(amount: Amount) -> Iterator[str]:
    sources = (amount.value is not None) + (amount.ratio is not None) + amount.advice
    if sources != 1:
        yield ": expected exactly one of value, ratio, advice: true"
    if amount.ratio is not None and not 0 < amount.ratio <= 100:
        yield ".ratio: expected more than 0, up to 100"
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
        if bounds[field].nanos <= 0:
            yield f".{field}: expected more than 0"
    if "min" in bounds and "max" in bounds and bounds["min"] > bounds["max"]:
        yield ".min: above max"


def _wanted(resources: Resources) -> Iterator[tuple[Side, Name, Amount]]:
    # Limits first: requests are held below them.
    for name, amount in resources.limits.items():
        yield "limits", name, amount
    for name, amount in resources.requests.items():
        yield "requests", name, amount


def _container_names(draft: Draft, globs: tuple[str, ...]) -> Iterator[str]:
    for listed in draft.value(Path((Field("containers"),))):
        for container in listed or ():
            name = container.get("name") if isinstance(container, dict) else None
            if isinstance(name, str) and any(fnmatchcase(name, glob) for glob in globs):
                yield name


def _amount(
    draft: Draft,
    path: Path,
    container: str,
    side: Side,
    resource: Name,
    amount: Amount,
    circumstances: Circumstances,
) -> Advised | str | None:
    """What *path* should be, why nothing can be said, or None when nothing is to be done."""
    now = draft.value(path)
    current = quantity(now[0]) if now else None
    if amount.advice:
        if not circumstances.measured:
            return None
        advice = circumstances.advisor.advise(circumstances.workload, container, side, resource)
        if not isinstance(advice, Advised):
            return advice.reason
        wanted, reason = advice.amount, advice.reason
    elif amount.ratio is not None:
        if not circumstances.original:
            return "left alone: what the pod first asked for does not stand in its stamp"
        if current is None:
            return None
        wanted, reason = _share(current, amount.ratio), f"{amount.ratio:g} of {current}"
    else:
        assert amount.value is not None, "a policy with faults is not applied"
        wanted, reason = parse_quantity(amount.value), ""
    wanted = _whole(_bounded(wanted, amount), resource)
    wanted, held = _beside(wanted, draft, path, side)
    if wanted.nanos <= 0:
        return f"left alone: {wanted} is nothing to ask for"
    if wanted == current:
        return None
    return Advised(wanted, "; ".join(filter(None, (reason, held))))


def _share(base: Quantity, ratio: float) -> Quantity:
    return Quantity(int(base.nanos * _exactly(ratio)), base.format)


@functools.lru_cache(maxsize=256)
def _exactly(ratio: float) -> Fraction:
    # As people wrote it: 0.1 is a tenth, not the binary fraction next to it.
    return Fraction(str(ratio))


def _bounded(wanted: Quantity, amount: Amount) -> Quantity:
    least, most = quantity(amount.min), quantity(amount.max)
    if least is not None:
        wanted = max(wanted, least)
    if most is not None:
        wanted = min(wanted, most)
    return wanted


def _whole(wanted: Quantity, resource: Name) -> Quantity:
    """The API server refuses parts of a milli-CPU, and warns of parts of a byte."""
    unit = _MILLI if resource == "cpu" else _UNIT
    rounded = -(-wanted.nanos // unit) * unit
    format_ = Format.DECIMAL if resource == "cpu" else wanted.format
    return Quantity(rounded, format_)


def _beside(wanted: Quantity, draft: Draft, path: Path, side: Side) -> tuple[Quantity, str]:
    other = Path((*path.steps[:-2], Field("limits" if side == "requests" else "requests")))
    found = draft.value(other / path.steps[-1])
    amount = quantity(found[0]) if found else None
    if amount is None:
        return wanted, ""
    if side == "requests" and wanted > amount:
        return amount, "held below the limit"
    if side == "limits" and wanted < amount:
        return amount, "held above the request"
    return wanted, ""
