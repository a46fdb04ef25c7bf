"""What a pod may ask for beside what a policy says: by its namespace, its cluster, and itself.

A pod that would be refused, or that no node could hold, must not be made of one that would have run. So what we
make is held within the bounds of each container where that is possible; and what breaks a bound all the same that
the pod did not break before is not made at all.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Name, Side
from nemutator_controller.mutations.paths import Json, field_path, value_at
from nemutator_controller.mutations.qos import quantity

NAMES: tuple[Name, ...] = ("cpu", "memory", "ephemeral-storage")
SIDES: tuple[Side, Side] = ("requests", "limits")

_UNIT = 10**9

Amounts = Mapping[Side, Mapping[str, Quantity]]
Instead = Mapping[str, Amounts]
"""By name of a container: the amounts that it would have in place of its own."""


@dataclass(frozen=True, slots=True)
class Range:
    """What is asked of one resource of each container, or of a whole pod."""

    source: str
    per: Literal["container", "pod"]
    resource: Name
    least: Quantity | None = None
    most: Quantity | None = None
    ratio: Quantity | None = None
    """How many times its request a limit may be."""


@dataclass(frozen=True, slots=True)
class Room:
    """What is left for one pod."""

    source: str
    side: Side
    resource: Name
    left: Quantity
    per: Literal["containers", "pod"] = "pod"
    """Whether what a pod asks for as a whole counts instead of its containers."""


@dataclass(frozen=True, slots=True)
class ResourceBounds:
    ranges: tuple[Range, ...] = ()
    rooms: tuple[Room, ...] = ()
    largest: Mapping[Name, Quantity] = field(default_factory=dict)
    """What the largest node has for pods."""

    def __bool__(self) -> bool:
        return bool(self.ranges or self.rooms or self.largest)

    def beside(self, other: "ResourceBounds") -> "ResourceBounds":
        """These and those of *other*, which has no nodes."""
        if not other:
            return self
        return ResourceBounds(self.ranges + other.ranges, self.rooms + other.rooms, self.largest)

    def held(
        self, wanted: Quantity, side: Side, resource: Name, limit: Quantity | None
    ) -> tuple[Quantity, str]:
        """*wanted* within the bounds of a container, and what holds it; of a request with its *limit*."""
        by = ""
        if not self:
            return wanted, by
        for each in self._of_containers(resource):
            least = each.least
            if side == "requests" and each.ratio is not None and limit is not None:
                share = Quantity(-(-limit.nanos * _UNIT // each.ratio.nanos), limit.format)
                least = share if least is None else max(least, share)
            if least is not None and wanted < least:
                wanted, by = least, each.source
        for each in self._of_containers(resource):
            if each.most is not None and wanted > each.most:
                wanted, by = each.most, each.source
        largest = self.largest.get(resource)
        if side == "requests" and largest is not None and wanted > largest:
            wanted, by = largest, LARGEST_NODE
        return wanted, by

    def highest_limit(self, resource: Name, request: Quantity) -> tuple[Quantity, str] | None:
        """The limit that a container with this *request* may have, and by what."""
        if not self.ranges:
            return None
        found = [
            (Quantity(request.nanos * each.ratio.nanos // _UNIT, request.format), each.source)
            for each in self._of_containers(resource)
            if each.ratio is not None
        ]
        return min(found, default=None)

    def _of_containers(self, resource: Name) -> Iterator[Range]:
        return (
            each for each in self.ranges if each.per == "container" and each.resource == resource
        )


LARGEST_NODE = "the largest node"

UNBOUNDED = ResourceBounds()


def own_bounds(manifest: Json, kind: str) -> ResourceBounds:
    """What a pod sets for all its containers: no limit may be above it, nor all their requests together."""
    pod = _pod(manifest, kind)
    if not pod["resources"]:
        return UNBOUNDED
    ranges: list[Range] = []
    rooms: list[Room] = []
    for name in NAMES:
        if (limit := _amount(pod, "limits", name)) is not None:
            ranges.append(Range("the pod's own limit", "container", name, most=limit))
        if (request := _amount(pod, "requests", name)) is not None:
            rooms.append(Room("the pod's own request", "requests", name, request, per="containers"))
    return ResourceBounds(tuple(ranges), tuple(rooms))


def broken_by(
    manifest: Json, kind: str, instead: Instead, bounds: ResourceBounds
) -> Mapping[Hashable, str]:
    """What a pod breaks of *bounds* if its containers had other amounts *instead*: a sentence by bound."""
    broken: dict[Hashable, str] = {}
    pod = _Asked(manifest, kind, instead)
    for each in bounds.ranges:
        for name, request, limit in pod.compared(each):
            for what in _out_of(each, request, limit):
                broken[each, name, what] = f"{each.source}: of {each.resource}, {what}"
    for room in _rooms(bounds):
        total = pod.total(room.side, room.resource, own=room.per == "pod")
        if total is not None and total > room.left:
            broken[room.source, room.side, room.resource] = (
                f"{room.source} has {room.left} left for {room.side}.{room.resource}, not {total}"
            )
    return broken


class Growth(NamedTuple):
    """What a pod would ask for as a whole, where that is more than before."""

    side: Side
    resource: Name
    before: Quantity | None
    """None: nothing."""
    after: Quantity

    def fits(self, room: Room) -> bool:
        """As `broken_by` says it before and after: a room that was too small already counts no more."""
        if (room.side, room.resource) != (self.side, self.resource) or self.after <= room.left:
            return True
        return self.before is not None and self.before > room.left


def growth_of(manifest: Json, kind: str, instead: Instead) -> tuple[Growth, ...]:
    """Of what a pod would ask for more if its containers had other amounts *instead*."""
    was, would_be = _Asked(manifest, kind, {}), _Asked(manifest, kind, instead)
    found: list[Growth] = []
    for side in SIDES:
        for name in NAMES:
            before, after = was.total(side, name), would_be.total(side, name)
            if after is not None and (before is None or after > before):
                found.append(Growth(side, name, before, after))
    return tuple(found)


def _rooms(bounds: ResourceBounds) -> Iterator[Room]:
    yield from bounds.rooms
    for name, amount in bounds.largest.items():
        yield Room(LARGEST_NODE, "requests", name, amount)


def _out_of(bound: Range, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    """As LimitRanger compares them. To it what is not given breaks a bound, too; but before it compares, it gives
    containers what they lack, and so it does after us to one that we have added."""
    least, most, ratio = bound.least, bound.most, bound.ratio
    lacking = bound.per == "pod"
    if least is not None:
        if request < least if request is not None else lacking:
            yield "its request is too small"
        if limit is not None and limit < least:
            yield "its limit is too small"
    if most is not None:
        if limit > most if limit is not None else lacking:
            yield "its limit is too large"
        if request is not None and request > most:
            yield "its request is too large"
    if ratio is not None and (
        not request or not limit or limit.nanos * _UNIT > request.nanos * ratio.nanos
    ):
        yield "its limit is too many times its request"


class _Asked:
    """What a pod and its containers would ask for."""

    def __init__(self, manifest: Json, kind: str, instead: Instead) -> None:
        self._pod = _pod(manifest, kind)
        self._spec = _first(value_at(manifest, field_path("overhead"), kind)) or {}
        self._running = _listed(manifest, kind, "containers")
        self._before = _listed(manifest, kind, "initContainers")
        self.containers: dict[str, Amounts] = {}
        for container in self._running:
            self._read(container, instead.get(str(container.get("name")), {}))
        for container in self._before:
            self._read(container, {})

    def _read(self, container: Json, other: Amounts) -> None:
        found: dict[Side, dict[str, Quantity]] = {
            side: {
                name: amount
                for name in NAMES
                if (amount := _amount(container, side, name)) is not None
            }
            | dict(other.get(side, {}))
            for side in SIDES
        }
        # An API server fills in a missing request from its limit.
        found["requests"] = found["limits"] | found["requests"]
        self.containers[str(container.get("name"))] = found

    def compared(self, bound: Range) -> Iterator[tuple[str, Quantity | None, Quantity | None]]:
        """Request and limit of each container, or of the pod."""
        name = bound.resource
        if bound.per == "pod":
            yield "", self.total("requests", name), self.total("limits", name)
            return
        for container, found in self.containers.items():
            yield container, found["requests"].get(name), found["limits"].get(name)

    def total(self, side: Side, name: Name, *, own: bool = True) -> Quantity | None:
        """As the scheduler and quotas add it up; None: nobody asks for it. *own*: what the pod sets for all of
        them counts instead."""
        if own and (amount := _amount(self._pod, side, name)) is not None:
            return amount
        nothing = Quantity(0)
        running = [self._of(each, side, name) for each in self._running]
        beside, highest = nothing, nothing
        for each in self._before:
            amount = self._of(each, side, name) or nothing
            if each.get("restartPolicy") == "Always":
                beside += amount
                highest = max(highest, beside)
            else:
                highest = max(highest, beside + amount)
        everything = sum((each for each in running if each is not None), beside)
        total = max(everything, highest)
        if not total:
            return None
        overhead = quantity(self._spec.get(name)) if own else None
        return total + overhead if overhead is not None else total

    def _of(self, container: Json, side: Side, name: Name) -> Quantity | None:
        return self.containers[str(container.get("name"))][side].get(name)


def _pod(manifest: Json, kind: str) -> Json:
    return {"resources": _first(value_at(manifest, field_path("resources"), kind))}


def _listed(manifest: Json, kind: str, field: str) -> list[Json]:
    found = _first(value_at(manifest, field_path(field), kind))
    return [each for each in found or () if isinstance(each, dict)]


def _first(found: tuple[Json, ...]) -> Json:
    return found[0] if found else None


def _amount(around: Json, side: Side, name: Name) -> Quantity | None:
    return quantity(((around.get("resources") or {}).get(side) or {}).get(name))
