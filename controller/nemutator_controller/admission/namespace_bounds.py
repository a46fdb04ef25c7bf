"""LimitRanges, quotas and nodes as bounds of pods."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from nemutator_controller.kube.objects import LimitRange, Node, ResourceQuota
from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Name, Side
from nemutator_controller.mutations.qos import quantity
from nemutator_controller.mutations.resource_bounds import NAMES, Range, Room

_PER: Mapping[str, Literal["container", "pod"]] = {"Container": "container", "Pod": "pod"}
"""By the type of a LimitRange's item; other types are not about pods."""


def ranges_of(found: Iterable[LimitRange]) -> Iterator[Range]:
    for each in found:
        source = f"LimitRange {each.metadata.name}"
        for item in each.spec.limits:
            per = _PER.get(item.type)
            for name in NAMES if per else ():
                least, most = quantity(item.min.get(name)), quantity(item.max.get(name))
                ratio = quantity(item.max_limit_request_ratio.get(name))
                # An API server takes no ratio below 1.
                ratio = ratio if ratio is not None and ratio.nanos > 0 else None
                if per and (least, most, ratio) != (None, None, None):
                    yield Range(source, per, name, least, most, ratio)


def rooms_of(found: Iterable[ResourceQuota]) -> Iterator[Room]:
    """Whatever pods a quota is for, it counts: by its scopes it may be for none of these."""
    for each in found:
        source = f"ResourceQuota {each.metadata.name}"
        for key, text in each.status.hard.items():
            place, hard = _PLACES.get(key), quantity(text)
            if place is not None and hard is not None:
                used = quantity(each.status.used.get(key)) or Quantity(0)
                yield Room(source, *place, hard - used)


def largest_of(found: Iterable[Node]) -> Mapping[Name, Quantity]:
    largest: dict[Name, Quantity] = {}
    for each in found:
        for name in NAMES:
            amount = quantity(each.status.allocatable.get(name))
            if amount is not None and (name not in largest or amount > largest[name]):
                largest[name] = amount
    return largest


def _places() -> Iterator[tuple[str, tuple[Side, Name]]]:
    for name in NAMES:
        yield name, ("requests", name)
        yield f"requests.{name}", ("requests", name)
        yield f"limits.{name}", ("limits", name)


_PLACES = dict(_places())
"""By the key of a quota, what it counts."""
