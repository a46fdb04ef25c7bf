"""A pod's quality-of-service class, as kubelet will see it: it decides which pods are evicted first."""

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from nemutator_controller.kube.quantities import LONGEST, Quantity, QuantityError, parse_quantity
from nemutator_controller.mutations.advisor import Side
from nemutator_controller.mutations.paths import Json, field_path, value_at

Class = Literal["Guaranteed", "Burstable", "BestEffort"]

LISTS = ("containers", "initContainers")

COUNTED = ("cpu", "memory")
"""The resources that the class depends on."""

Amounts = dict[str, Quantity]

Instead = Mapping[str, Mapping[Side, Mapping[str, Quantity | str]]]
"""By name of a container and side, other amounts than its own."""

_NONE: Json = MappingProxyType({})


def class_of(manifest: Json, kind: str) -> Class:
    """The class of the pod that *manifest* is or makes. A missing request defaults to its limit."""
    return class_with(manifest, kind, {})


def class_with(manifest: Json, kind: str, instead: Instead) -> Class:
    """The same, if the containers of these names had other amounts *instead* of their own."""
    for own in value_at(manifest, field_path("resources"), kind):
        if own:
            # What a pod sets for all its containers counts alone.
            return _class_of_pod({"resources": own})
    guaranteed = True
    anything = False
    others = dict(instead)
    # Init containers come last: only the first container of a name can be meant.
    for container in containers(manifest, kind):
        resources = container.get("resources") or _NONE
        limits, requests = resources.get("limits") or _NONE, resources.get("requests") or _NONE
        name = container.get("name")
        other = others.pop(name, None) if others and isinstance(name, str) else None
        for counted in COUNTED:
            limit, request = limits.get(counted), requests.get(counted)
            if other is not None:
                limit = other.get("limits", _NONE).get(counted, limit)
                request = other.get("requests", _NONE).get(counted, request)
            is_something, is_guaranteed = standing(limit, request)
            anything, guaranteed = anything or is_something, guaranteed and is_guaranteed
    if not anything:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def standing(limit: Json, request: Json) -> tuple[bool, bool]:
    """Whether anything is asked for, and whether that is guaranteed."""
    # Written out: a pod that asks for new amounts is asked about this six times.
    if (limit is None or (type(limit) is str and len(limit) <= LONGEST)) and (
        request is None or (type(request) is str and len(request) <= LONGEST)
    ):
        return _standing_of(limit, request)
    return _standing_of.__wrapped__(limit, request)


@functools.lru_cache(maxsize=1024)
def _standing_of(limit: Json, request: Json) -> tuple[bool, bool]:
    most, least = quantity(limit), quantity(request)
    return bool(most or least), bool(most) and (least is None or least == most)


def _class_of_pod(pod: Json) -> Class:
    limits, requests = amounts(pod, "limits"), amounts(pod, "requests")
    if not any(limits.values()) and not any(requests.values()):
        return "BestEffort"
    requests = limits | requests
    guaranteed = all(limits.get(name) and limits[name] == requests[name] for name in COUNTED)
    return "Guaranteed" if guaranteed else "Burstable"


def containers(manifest: Json, kind: str) -> Iterator[Json]:
    """All that count: init containers, too."""
    for field in LISTS:
        for listed in value_at(manifest, field_path(field), kind):
            yield from (each for each in listed or () if isinstance(each, dict))


def amounts(container: Json, side: str) -> Amounts:
    """What a container asks for; a value that is not an amount is left for the API server to refuse."""
    resources = container.get("resources")
    section = resources.get(side) if resources else None
    found: Amounts = {}
    if section:
        for name in COUNTED:
            amount = quantity(section.get(name))
            if amount is not None:
                found[name] = amount
    return found


def quantity(value: Json) -> Quantity | None:
    """*value* as an amount; a manifest of people may have a number where the API server has text."""
    if value is None or (type(value) is not str and isinstance(value, bool | dict | list)):
        return None
    text = str(value)
    # Text that is too long for an amount must not fill the cache.
    return _quantity(text) if len(text) <= LONGEST else None


@functools.lru_cache(maxsize=1024)
def _quantity(text: str) -> Quantity | None:
    # Most pods ask for the same few amounts.
    try:
        return parse_quantity(text)
    except QuantityError:
        return None
