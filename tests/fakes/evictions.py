"""Evictions without a cluster and without a database."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.evictions.records import (
    OPEN,
    EvictablePod,
    EvictionRequest,
    EvictionState,
    OwningWorkload,
    RequestedEviction,
)
from nemutator_controller.kube.reviews import User


def evictable(
    name: str,
    workload: str | None = "web",
    *,
    kind: str = "Deployment",
    node: str = "n1",
    namespace: str = "shop",
    ready: bool = True,
) -> EvictablePod:
    owner = None if workload is None else OwningWorkload(namespace, kind, workload)
    labels = {"app": workload or name}
    return EvictablePod(namespace, name, f"u-{name}", node, owner, ready, labels)


def eviction_request(
    id_: str = "r1", *, at: float = 0.0, within_s: float = 3600
) -> EvictionRequest:
    return EvictionRequest(
        id=id_, at=at, until=at + within_s, by="anna", reason="new kernel", selection="all pods"
    )


class MemoryEvictions:
    """An `EvictionStore`."""

    def __init__(self) -> None:
        self.asked: dict[str, EvictionRequest] = {}
        self.rows: dict[tuple[str, str], RequestedEviction] = {}
        self.is_away = False

    async def add(self, request: EvictionRequest, evictions: Sequence[RequestedEviction]) -> None:
        self._answer()
        self.asked[request.id] = request
        self._put(evictions)

    async def save(self, evictions: Sequence[RequestedEviction]) -> None:
        self._answer()
        self._put(evictions)

    async def unfinished(self) -> Sequence[tuple[EvictionRequest, Sequence[RequestedEviction]]]:
        self._answer()
        several = sorted(self.asked.values(), key=lambda each: (each.at, each.id))
        found = [(one, self._of(one.id, OPEN)) for one in several]
        return [(request, rows) for request, rows in found if rows]

    async def evicted_since(self, moment: float) -> Sequence[RequestedEviction]:
        self._answer()
        recent = (
            each for each in self.rows.values() if each.state == "evicted" and each.at >= moment
        )
        return sorted(recent, key=lambda each: each.at)

    async def requests(
        self, *, namespace: str | None, limit: int
    ) -> Sequence[tuple[EvictionRequest, dict[EvictionState, int]]]:
        self._answer()
        newest = sorted(self.asked.values(), key=lambda each: (-each.at, each.id))
        found = [
            (one, dict(Counter(each.state for each in self._of(one.id, namespace=namespace))))
            for one in newest
        ]
        return [each for each in found if each[1] or namespace is None][:limit]

    async def request(
        self, id_: str, *, namespace: str | None
    ) -> tuple[EvictionRequest, Sequence[RequestedEviction]] | None:
        self._answer()
        rows = sorted(
            self._of(id_, namespace=namespace), key=lambda each: (each.pod.namespace, each.pod.uid)
        )
        known = id_ in self.asked and (rows or namespace is None)
        return (self.asked[id_], rows) if known else None

    async def drop_before(self, moment: float, *, most: int) -> int:
        return self._drop([each for each in self._finished() if each.at < moment][:most])

    async def drop_oldest(self, *, most: int) -> int:
        return self._drop(self._finished()[:most])

    async def count(self) -> int:
        return len(self.asked)

    def _put(self, evictions: Sequence[RequestedEviction]) -> None:
        for each in evictions:
            kept = replace(each, pod=replace(each.pod, labels={}))
            self.rows[each.request, each.pod.uid] = kept

    def _of(
        self,
        request: str,
        states: Collection[EvictionState] | None = None,
        *,
        namespace: str | None = None,
    ) -> list[RequestedEviction]:
        return [
            each
            for each in self.rows.values()
            if each.request == request
            and (states is None or each.state in states)
            and namespace in (None, each.pod.namespace)
        ]

    def _finished(self) -> list[EvictionRequest]:
        several = sorted(self.asked.values(), key=lambda each: (each.at, each.id))
        return [each for each in several if not self._of(each.id, OPEN)]

    def _drop(self, requests: Sequence[EvictionRequest]) -> int:
        for request in requests:
            del self.asked[request.id]
            for each in self._of(request.id):
                del self.rows[each.request, each.pod.uid]
        return len(requests)

    def _answer(self) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")


class MemoryPods:
    """The `EvictablePods` and the `PodEvictions` of a few pods."""

    def __init__(self, *pods: EvictablePod) -> None:
        self.pods: list[EvictablePod] | None = list(pods)
        self.evicted: list[str] = []
        self.notes: list[str] = []
        self.failures: dict[str, Exception] = {}

    async def now(self) -> Sequence[EvictablePod] | None:
        return None if self.pods is None else list(self.pods)

    async def together(self, uids: Collection[str]) -> Sequence[EvictablePod] | None:
        if self.pods is None:
            return None
        workloads = {each.workload for each in self.pods if each.uid in uids}
        return [each for each in self.pods if each.uid in uids or each.workload in workloads]

    async def evict(self, pod: EvictablePod) -> None:
        if (failure := self.failures.get(pod.name)) is not None:
            raise failure
        assert self.pods is not None
        self.evicted.append(pod.name)
        self.pods.remove(pod)

    def notify(self, pod: EvictablePod, note: str, *, warning: bool = False) -> None:
        self.notes.append(f"{pod.name}: {note}")


class MemoryEvictionRights:
    """The `EvictionRights` of one person in some namespaces."""

    def __init__(self, *namespaces: str) -> None:
        self.namespaces = set(namespaces)

    async def forbidden(self, user: User, namespaces: Collection[str]) -> Sequence[str]:
        return sorted(set(namespaces) - self.namespaces)
