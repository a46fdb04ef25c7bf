"""Keeps in memory what namespaces and nodes let pods ask for.

While one of the lists has not come, or may not be read, its bounds are not known, and pods are changed without
them, as policies say.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nemutator_common.process import Process

from nemutator_controller.admission.known_plans import are_same
from nemutator_controller.admission.namespace_bounds import largest_of, ranges_of, rooms_of
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import LimitRange, Node, Object, ResourceQuota
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.kube.resources import LIMIT_RANGES, NODES, RESOURCE_QUOTAS
from nemutator_controller.kube.store import StoreSnapshot
from nemutator_controller.mutations.advisor import Name
from nemutator_controller.mutations.resource_bounds import ResourceBounds

T = TypeVar("T", bound=Object)

CHECK_S = 10.0
"""Nodes come and go over minutes, and there may be thousands."""

NAMESPACE = "namespace"

MOST_KEPT = 10_000
"""Namespaces. A cluster has fewer; whoever reaches the port can make up more."""


@dataclass(slots=True)
class WatchedBounds:
    limit_ranges: Informer[LimitRange]
    quotas: Informer[ResourceQuota]
    nodes: Informer[Node]
    process: Process
    _largest: Mapping[Name, Quantity] = field(default_factory=dict, init=False)
    _changes: int = field(default=0, init=False)
    """Of what nodes allow."""
    _known: dict[str, tuple[Sequence[object], ResourceBounds]] = field(
        default_factory=dict, init=False
    )
    """By namespace, its bounds and what they were made of: each pod asks for them."""
    _as_of: Sequence[object] = field(default=(), init=False)
    _since: dict[str, ResourceBounds] = field(default_factory=dict, init=False)
    """Those that were asked for since anything was written; until the next time they are the same."""

    def of(self, namespace: str) -> ResourceBounds:
        as_of = _snapshot(self.limit_ranges), _snapshot(self.quotas), self._largest
        if not are_same(as_of, self._as_of):
            self._as_of = as_of
            self._since.clear()
        found = self._since.get(namespace)
        if found is None:
            found = self._found(namespace)
            self._since[namespace] = found
        return found

    def moment(self) -> int:
        """Another number as soon as the bounds of a namespace may be others."""
        return self.limit_ranges.writes.number + self.quotas.writes.number + self._changes

    def _found(self, namespace: str) -> ResourceBounds:
        limits = tuple(_listed(self.limit_ranges, namespace))
        quotas = tuple(_listed(self.quotas, namespace))
        made_of = (self._largest, *limits, *quotas)
        known = self._known.get(namespace)
        if known is not None and are_same(known[0], made_of):
            return known[1]
        bounds = ResourceBounds(tuple(ranges_of(limits)), tuple(rooms_of(quotas)), self._largest)
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
            self._since.clear()
        self._known[namespace] = made_of, bounds
        return bounds

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """What keeps it up to date, by name."""
        return {
            "watch limit ranges": self.limit_ranges.run,
            "watch quotas": self.quotas.run,
            "watch nodes": self.nodes.run,
            "check nodes": self.check,
        }

    async def check(self) -> None:
        await self.nodes.synced()
        while True:
            largest = largest_of(self.nodes.snapshot().objects.values())
            if largest != self._largest:
                self._largest = largest
                self._changes += 1
            await self.process.clock.sleep(CHECK_S)


def watched_bounds(transport: Transport, process: Process) -> WatchedBounds:
    by_namespace = {NAMESPACE: _namespace}
    return WatchedBounds(
        Informer(LIMIT_RANGES, transport=transport, process=process, indexes=by_namespace),
        Informer(RESOURCE_QUOTAS, transport=transport, process=process, indexes=by_namespace),
        Informer(NODES, transport=transport, process=process),
        process,
    )


def _namespace(found: Object) -> Iterable[str]:
    return (found.metadata.namespace,)


def _snapshot(informer: Informer[T]) -> StoreSnapshot[T] | None:
    """None: no list has come yet."""
    try:
        return informer.snapshot()
    except NotSyncedError:
        return None


def _listed(informer: Informer[T], namespace: str) -> Iterable[T]:
    snapshot = _snapshot(informer)
    return () if snapshot is None else snapshot.by(NAMESPACE, namespace)
