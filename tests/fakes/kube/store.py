"""What etcd and the watch cache hold: objects, one version for all, and the history of changes.

The store knows nothing of HTTP, rights or admission. What it hands out is shared: callers do not
change it, and `put` takes a copy of its own.
"""

import asyncio
import copy
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tests.fakes.kube.kinds import Kind

Json = dict[str, Any]
Key = tuple[str, str]
"""Namespace ("" for cluster kinds) and name, which is also the order of lists."""

LONGEST_HISTORY = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: Json
    previous: Json | None


def key_of(manifest: Json) -> Key:
    metadata = manifest["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


class Store:
    def __init__(self) -> None:
        self.version = 1
        self._objects: dict[str, dict[Key, Json]] = defaultdict(dict)
        self._history: dict[str, deque[Change]] = defaultdict(deque)
        self._forgotten: dict[str, int] = {}
        self._compacted = 0
        self._changed = asyncio.Event()

    def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        return self._objects[kind.resource].get((namespace, name))

    def all(self, kind: Kind) -> list[Json]:
        """Every object of *kind*, in the order of their keys."""
        return [manifest for _, manifest in sorted(self._objects[kind.resource].items())]

    def put(self, kind: Kind, manifest: Json) -> Json:
        """Store a copy of *manifest* with the next version, and tell the watchers."""
        self.version += 1
        stored = copy.deepcopy(manifest)
        stored["metadata"]["resourceVersion"] = str(self.version)
        objects = self._objects[kind.resource]
        previous = objects.get(key_of(stored))
        objects[key_of(stored)] = stored
        self._record(kind, "MODIFIED" if previous else "ADDED", stored, previous)
        return stored

    def remove(self, kind: Kind, namespace: str, name: str) -> Json:
        """Its last state carries the version of the deletion, as DELETED events do."""
        self.version += 1
        previous = self._objects[kind.resource].pop((namespace, name))
        last = copy.deepcopy(previous)
        last["metadata"]["resourceVersion"] = str(self.version)
        self._record(kind, "DELETED", last, previous)
        return last

    def begin(self, kind: Kind) -> None:
        """What is served from now on has no history: a watch from before it is too old."""
        self._forgotten.setdefault(kind.resource, self.version)

    def changes_after(self, kind: Kind, version: int) -> Iterator[Change]:
        """In order; the caller has asked `oldest` whether the history reaches back so far."""
        newer = []
        for change in reversed(self._history[kind.resource]):
            if change.version <= version:
                break
            newer.append(change)
        return reversed(newer)

    def oldest(self, kind: Kind) -> int:
        """The smallest version after which every change of *kind* is still known."""
        return max(self._compacted, self._forgotten.get(kind.resource, 0))

    def at(self, kind: Kind, version: int) -> list[Json]:
        """The objects as they were at *version*, which is not older than `oldest`."""
        then = dict(self._objects[kind.resource])
        for change in reversed([*self.changes_after(kind, version)]):
            if change.previous is None:
                del then[key_of(change.object)]
            else:
                then[key_of(change.object)] = change.previous
        return [manifest for _, manifest in sorted(then.items())]

    def compact(self) -> None:
        """Forget the history, as etcd does every five minutes."""
        self._history.clear()
        self._compacted = self.version

    def advance(self, by: int = 1) -> None:
        """Let versions pass that are nobody's, as writes to other resources do."""
        self.version += by
        self.wake()

    def lose_everything(self) -> None:
        """A restore from an empty backup: versions start again, and the past is gone."""
        self._objects.clear()
        self._history.clear()
        self._forgotten.clear()
        self.version = 1
        self._compacted = 1
        self.wake()

    def wake(self) -> None:
        """Let every watcher look again."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def changed(self, unless: Callable[[], bool], timeout_s: float | None) -> None:
        """Wait for the next `wake`, at most *timeout_s*, not at all when *unless* holds."""
        changed = self._changed
        if unless():
            return
        try:
            async with asyncio.timeout(timeout_s):
                await changed.wait()
        except TimeoutError:
            pass

    def _record(
        self,
        kind: Kind,
        type_: Literal["ADDED", "MODIFIED", "DELETED"],
        manifest: Json,
        previous: Json | None,
    ) -> None:
        history = self._history[kind.resource]
        history.append(Change(self.version, type_, manifest, previous))
        if len(history) > LONGEST_HISTORY:
            self._forgotten[kind.resource] = history.popleft().version
        self.wake()
