"""The brain's stores in memory. tests/contract/database runs one suite on these and on SQLite."""

from collections.abc import Sequence
from dataclasses import replace

from nemutator_common.wire import Batch, Envelope, StreamBatch
from nemutator_controller.access.sessions import Session
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.database.failures import Reason, StoreUnavailableError
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.progress import Stored, new_records, new_reports
from nemutator_controller.usage.history import MachineSeries, Point, point_of


class Failing:
    """Fails with *broken* while a test sets it."""

    broken: Reason | None = None

    def _work(self) -> None:
        if self.broken is not None:
            raise StoreUnavailableError(self.broken)


class MemoryReports(Failing):
    def __init__(self) -> None:
        self.points: dict[str, dict[float, Point]] = {}
        self._cursors: dict[tuple[str, str], int] = {}

    async def stored_up_to(self, node: str, epoch: str) -> int:
        self._work()
        return self._cursors.get((node, epoch), 0)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        self._work()
        before = self._cursors.get((batch.node, batch.epoch), 0)
        stored = new_reports(batch, before=before)
        self._cursors[batch.node, batch.epoch] = stored.seq
        for envelope in stored.fresh:
            point = point_of(envelope)
            self.points.setdefault(batch.node, {}).setdefault(point.at, point)
        return stored


class MemoryStreams(Failing):
    def __init__(self) -> None:
        self.records: dict[tuple[str, str], list[dict[str, object]]] = {}
        """By stream and writer."""
        self._cursors: dict[tuple[str, str, str], int] = {}

    async def stored_up_to(self, stream: str, writer: str, epoch: str) -> int:
        self._work()
        return self._cursors.get((stream, writer, epoch), 0)

    async def store(
        self, stream: str, batch: StreamBatch, *, now: float
    ) -> Stored[dict[str, object]]:
        self._work()
        cursor = (stream, batch.writer, batch.epoch)
        before = self._cursors.get(cursor, 0)
        stored = new_records(batch, before=before)
        if any("wrong" in record for record in stored.fresh):
            raise RefusedBatchError("malformed", "a record is wrong")
        self._cursors[cursor] = stored.seq
        self.records.setdefault((stream, batch.writer), []).extend(stored.fresh)
        return stored


class MemoryHistory(Failing):
    def __init__(self, points: dict[str, dict[float, Point]]) -> None:
        self._points = points

    async def series(self, node: str, *, since: float) -> MachineSeries | None:
        self._work()
        if node not in self._points:
            return None
        found = (point for at, point in sorted(self._points[node].items()) if at >= since)
        return MachineSeries(node, None, tuple(found))

    async def drop_before(self, moment: float, *, most: int) -> int:
        self._work()
        return self._drop([at for at in self._moments() if at < moment][:most])

    async def drop_oldest(self, *, most: int) -> int:
        self._work()
        return self._drop(self._moments()[:most])

    async def count(self) -> int:
        self._work()
        return len(self._moments())

    def _moments(self) -> list[float]:
        return sorted(at for points in self._points.values() for at in points)

    def _drop(self, moments: list[float]) -> int:
        before = len(self._moments())
        for node, points in list(self._points.items()):
            self._points[node] = {at: p for at, p in points.items() if at not in moments}
            if not self._points[node]:
                del self._points[node]
        return before - len(self._moments())


class MemoryLatest(Failing):
    def __init__(self) -> None:
        self.nodes: dict[str, ReportedNode] = {}
        self.saved: list[str] = []
        self.steps: list[int] = []

    async def load(self, *, seen_since: float = 0.0) -> Sequence[ReportedNode]:
        self._work()
        return [node for node in self.nodes.values() if node.seen_at >= seen_since]

    async def save(self, nodes: Sequence[ReportedNode]) -> None:
        self._work()
        self.nodes |= {node.name: replace(node, restored=True) for node in nodes}
        self.saved += [node.name for node in nodes]
        self.steps.append(len(nodes))

    async def forget(self, gone: Sequence[str]) -> None:
        self._work()
        for name in gone:
            self.nodes.pop(name, None)


class MemorySessions(Failing):
    def __init__(self) -> None:
        self.sessions: list[Session[None]] = []

    async def load(self, *, now: float) -> Sequence[Session[None]]:
        self._work()
        return [session for session in self.sessions if session.expires_at > now]

    async def save(self, session: Session[None], *, now: float) -> None:
        self._work()
        self.sessions = [old for old in self.sessions if old.expires_at > now] + [session]
