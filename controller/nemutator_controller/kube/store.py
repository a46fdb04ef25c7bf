"""The informer's copy of one resource: events are folded in, immutable snapshots come out.

150 000 objects and thousands of events a second leave no time to copy them all for each reader.
So a map is held in parts; a snapshot shares them all, and the next write to a part copies that part
alone, once per snapshot. Until then everybody gets the same snapshot, because a new one touches each part, and admission asks
for several with each pod. An index is a map of small maps, treated the same way; what is alone under its value, as nearly everything
is under its uid, stands there without a map of its own, which would be a tenth of all that is kept.
"""

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from itertools import chain
from typing import Generic, TypeVar

import msgspec

from nemutator_controller.kube.objects import Metadata, Object

T = TypeVar("T", bound=Object)
V = TypeVar("V")

PARTS = 1024
"""Parts of a map: at 150 000 objects a part has about 150, copied in about a microsecond."""

Index = Callable[[T], Iterable[str]]
"""Under which values an object is found."""


class Change(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """What happened to one object: it came (no *before*), changed, or went (no *after*)."""

    key: str
    before: T | None
    after: T | None


class PartedMap(Generic[V]):
    """A dict that can be frozen in no time."""

    __slots__ = ("_own", "_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[dict[str, V]] = [{} for _ in range(PARTS)]
        self._own = bytearray(b"\1" * PARTS)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get(self, key: str) -> V | None:
        return self._parts[hash(key) % PARTS].get(key)

    def put(self, key: str, value: V) -> None:
        number = hash(key) % PARTS
        part = self._parts[number] if self._own[number] else self._writable(number)
        before = len(part)
        part[key] = value
        self._size += len(part) - before

    def remove(self, key: str) -> None:
        self._size -= self._writable(hash(key) % PARTS).pop(key, None) is not None

    def keys(self) -> Iterator[str]:
        for part in self._parts:
            yield from part

    def frozen(self) -> "FrozenMap[V]":
        self._own = bytearray(PARTS)
        return FrozenMap(tuple(self._parts), self._size)

    def _writable(self, number: int) -> dict[str, V]:
        if not self._own[number]:
            self._parts[number] = self._parts[number].copy()
            self._own[number] = 1
        return self._parts[number]


class FrozenMap(Mapping[str, V]):
    """What a `PartedMap` was at one moment."""

    __slots__ = ("_parts", "_size")

    def __init__(self, parts: tuple[dict[str, V], ...], size: int) -> None:
        self._parts = parts
        self._size = size

    def __getitem__(self, key: str) -> V:
        return self._parts[hash(key) % PARTS][key]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts)

    def __len__(self) -> int:
        return self._size

    def find(self, key: str) -> V | None:
        """As `get`, which Python has of all mappings: that makes an error of each key that is not there."""
        return self._parts[hash(key) % PARTS].get(key)

    # Python's own of a mapping search for each key again, which for 150 000 pods is most of what readers do.
    def values(self) -> ValuesView[V]:
        return _Values(self)

    def items(self) -> ItemsView[str, V]:
        return _Items(self)

    def parts(self) -> tuple[dict[str, V], ...]:
        """It, in pieces that nobody changes."""
        return self._parts


class _Values(ValuesView[V]):
    __slots__ = ()
    _mapping: FrozenMap[V]

    def __iter__(self) -> Iterator[V]:
        return chain.from_iterable(part.values() for part in self._mapping.parts())


class _Items(ItemsView[str, V]):
    __slots__ = ()
    _mapping: FrozenMap[V]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return chain.from_iterable(part.items() for part in self._mapping.parts())


class StoreSnapshot(Generic[T]):
    """All objects of a resource as they were at one moment; it never changes."""

    __slots__ = ("_indexes", "objects", "resource_version")

    def __init__(
        self,
        objects: FrozenMap[T],
        indexes: Mapping[str, FrozenMap[T | dict[str, T]]],
        resource_version: str,
    ) -> None:
        self.objects = objects
        self.resource_version = resource_version
        self._indexes = indexes

    def __len__(self) -> int:
        return len(self.objects)

    def get(self, namespace: str, name: str) -> T | None:
        return self.objects.find(f"{namespace}/{name}")

    def by(self, index: str, value: str) -> Iterable[T]:
        """The objects that *index* finds under *value*."""
        found = self._indexes[index].find(value)
        return () if found is None else _members(found)

    def groups(self, index: str) -> Iterator[Iterable[T]]:
        """The objects under each value of *index*; whoever has several values is in several groups."""
        for group in self._indexes[index].values():
            yield _members(group)


class Writes:
    """How often anything was written: as long as the number is the same, so is all that was found."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


class Store(Generic[T]):
    """Folds what the server says into the copy; each fold returns the changes that it made.

    Folding the same event twice changes nothing. A name that comes back with another uid is another
    object: the old one goes before the new one comes.
    """

    def __init__(self, indexes: Mapping[str, Index[T]]) -> None:
        self._objects: PartedMap[T] = PartedMap()
        self._indexes = {name: _Indexed(index) for name, index in indexes.items()}
        self._snapshot: StoreSnapshot[T] | None = None
        """The last one, until something is written: what it shares would be kept for nobody."""
        self.writes = Writes()
        self.resource_version = ""
        """The version that the copy has reached: a watch resumes from it."""

    def __len__(self) -> int:
        return len(self._objects)

    def snapshot(self) -> StoreSnapshot[T]:
        last = self._snapshot
        if last is None or last.resource_version != self.resource_version:
            indexes = {name: indexed.frozen() for name, indexed in self._indexes.items()}
            last = StoreSnapshot(self._objects.frozen(), indexes, self.resource_version)
            self._snapshot = last
        return last

    def put(self, new: T) -> tuple[Change[T], ...]:
        return self.put_as(new.metadata.key, new)

    def put_as(self, key: str, new: T) -> tuple[Change[T], ...]:
        old = self._objects.get(key)
        if old is not None and is_same(old.metadata, new.metadata):
            return ()
        self._is_written()
        self._objects.put(key, new)
        for indexed in self._indexes.values():
            indexed.move(key, old, new)
        if old is not None and old.metadata.uid != new.metadata.uid:
            return (Change(key, old, None), Change(key, None, new))
        return (Change(key, old, new),)

    def remove(self, key: str) -> tuple[Change[T], ...]:
        old = self._objects.get(key)
        if old is None:
            return ()
        self._is_written()
        self._objects.remove(key)
        for indexed in self._indexes.values():
            indexed.move(key, old, None)
        return (Change(key, old, None),)

    def _is_written(self) -> None:
        self._snapshot = None
        self.writes.number += 1

    def replacing(self) -> "Replacement[T]":
        """Take in a whole new list, of which nothing is visible before `commit`."""
        return Replacement(self, self._objects)


class Replacement(Generic[T]):
    """A list on its way in. What is stored already is not stored a second time.

    A first list has nobody to hide from: it goes straight in, so that its work is spread over the
    time that it takes to arrive.
    """

    def __init__(self, store: Store[T], objects: PartedMap[T]) -> None:
        self._store = store
        self._objects = objects
        self._first = not store.resource_version
        self._staged: dict[str, T] = {}
        self._seen: set[str] = set()

    def offer(self, item: T) -> None:
        key = item.metadata.key
        self._seen.add(key)
        if self._first:
            self._store.put_as(key, item)
            return
        old = self._objects.get(key)
        if old is None or not is_same(old.metadata, item.metadata):
            self._staged[key] = item
        else:
            self._staged.pop(key, None)

    def keep(self, key: str) -> None:
        """*key* is there but cannot be read: what we know of it is old, not gone."""
        self._seen.add(key)

    def withdraw(self, key: str) -> None:
        """*key* went while the list was on its way."""
        self._seen.discard(key)
        self._staged.pop(key, None)

    def commit(self, resource_version: str) -> list[Change[T]]:
        """The list is complete: whatever it does not name is gone."""
        changes: list[Change[T]] = []
        for key in [key for key in self._objects.keys() if key not in self._seen]:  # noqa: SIM118
            changes += self._store.remove(key)
        for key, item in self._staged.items():
            changes += self._store.put_as(key, item)
        self._store.resource_version = resource_version
        return changes


class _Indexed(Generic[T]):
    """One index: value → what is alone under it, or the objects under it by their keys."""

    def __init__(self, index: Index[T]) -> None:
        self._index = index
        self._groups: PartedMap[T | dict[str, T]] = PartedMap()
        self._own: dict[str, dict[str, T]] = {}
        """Groups that no snapshot shares."""

    def frozen(self) -> FrozenMap[T | dict[str, T]]:
        self._own.clear()
        return self._groups.frozen()

    def move(self, key: str, old: T | None, new: T | None) -> None:
        values = self._index(new) if new is not None else ()
        if old is not None:
            for value in self._index(old):
                if value not in values:
                    self._drop(value, key)
        if new is not None:
            for value in values:
                self._add(value, key, new)

    def _add(self, value: str, key: str, new: T) -> None:
        group = self._own.get(value)
        if group is None:
            found = self._groups.get(value)
            if found is None or (not isinstance(found, dict) and found.metadata.key == key):
                self._groups.put(value, new)
                return
            group = self._writable(value, found)
        group[key] = new

    def _drop(self, value: str, key: str) -> None:
        group = self._own.get(value)
        if group is None:
            found = self._groups.get(value)
            if not isinstance(found, dict):
                if found is not None and found.metadata.key == key:
                    self._groups.remove(value)
                return
            group = self._writable(value, found)
        group.pop(key, None)
        if not group:
            self._groups.remove(value)
            del self._own[value]

    def _writable(self, value: str, found: T | dict[str, T]) -> dict[str, T]:
        own = dict(found) if isinstance(found, dict) else {found.metadata.key: found}
        self._own[value] = own
        self._groups.put(value, own)
        return own


def _members(group: T | dict[str, T]) -> Iterable[T]:
    return group.values() if isinstance(group, dict) else (group,)


def is_same(old: Metadata, new: Metadata) -> bool:
    """Whether both are the same state of the same object."""
    return old.resource_version == new.resource_version and old.uid == new.uid
