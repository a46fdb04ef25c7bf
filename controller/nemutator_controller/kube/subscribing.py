"""Notifies subscribers of changes, and waits for none that is slow."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nemutator_common import names
from nemutator_common.meters import Meter

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.store import Change, StoreSnapshot

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Resync(Generic[T]):
    """All objects, in the place of all that the subscriber knows."""

    snapshot: StoreSnapshot[T]


class Subscription(Generic[T]):
    """The changes of one resource for one subscriber, who reads them in one task.

    It begins with a `Resync`. When more changes wait than *capacity*, all of them are dropped for
    another `Resync`, taken when the subscriber gets to it: a slow one costs no memory, and one
    that folds what comes always ends with what the informer has.
    """

    def __init__(self, snapshot: Callable[[], StoreSnapshot[T]], capacity: int) -> None:
        self._snapshot = snapshot
        self._capacity = capacity
        self._changes: deque[Change[T]] = deque()
        self._behind = True
        self._ready = asyncio.Event()

    def publish(self, changes: Iterable[Change[T]]) -> bool:
        """Queue *changes*; False when this is where the subscriber fell behind."""
        if self._behind:
            return True
        self._changes.extend(changes)
        if self._changes:
            self._ready.set()
        if len(self._changes) <= self._capacity:
            return True
        self._changes.clear()
        self._behind = True
        return False

    def begin(self) -> None:
        """There is a complete copy now."""
        self._ready.set()

    async def next(self) -> Resync[T] | Change[T]:
        await self._ready.wait()
        if self._behind:
            self._behind = False
            self._ready.clear()
            return Resync(self._snapshot())
        change = self._changes.popleft()
        if not self._changes:
            self._ready.clear()
        return change

    def waiting(self) -> Resync[T] | Sequence[Change[T]]:
        """All that waits now; nothing before there is a complete copy."""
        if not self._ready.is_set():
            return ()
        self._ready.clear()
        if self._behind:
            self._behind = False
            return Resync(self._snapshot())
        changes = tuple(self._changes)
        self._changes.clear()
        return changes

    async def __aiter__(self) -> AsyncIterator[Resync[T] | Change[T]]:
        while True:
            yield await self.next()


class Subscribers(Generic[T]):
    """Everybody who subscribed to one resource."""

    def __init__(self, resource: str, meter: Meter) -> None:
        self._resource = resource
        self._meter = meter
        self._all: dict[str, Subscription[T]] = {}

    def add(self, name: str, subscription: Subscription[T]) -> None:
        if name in self._all:
            raise ValueError(f"{name} subscribes to {self._resource} already")
        self._all[name] = subscription

    def remove(self, name: str) -> None:
        self._all.pop(name, None)

    def begin(self) -> None:
        for subscription in self._all.values():
            subscription.begin()

    def publish(self, changes: Iterable[Change[T]]) -> None:
        for name, subscription in self._all.items():
            if not subscription.publish(changes):
                self._meter.count(names.KUBE_RESYNCS, resource=self._resource, subscriber=name)
