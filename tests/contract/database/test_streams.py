"""What every store of streams does: the fake, and SQLite with a handler that keeps what it gets."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from nemutator_common.wire import StreamBatch
from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import cursors, stream_cursors
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.ports import StreamStore
from nemutator_controller.ingest.sql import KEPT_EPOCHS, KEPT_WRITERS_S, SqlReports, SqlStreams
from sqlalchemy import Connection, Table, func, select

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.batches import batch as reports
from tests.fakes.brain_stores import MemoryStreams
from tests.fakes.databases import opened

NOW = 1_700_000_000.0


def keep(connection: Connection, writer: str, records: Sequence[dict[str, object]]) -> None:
    if any("wrong" in record for record in records):
        raise ValueError("that one")


def batch(first: int = 1, count: int = 2, *, epoch: str = "e", **more: object) -> StreamBatch:
    return StreamBatch("w", epoch, first, tuple({"n": i, **more} for i in range(count)))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path / "x.db") as database:
        yield database


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StreamStore]:
    if request.param == "memory":
        yield MemoryStreams()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlStreams(database, {"s": keep, "t": keep})


async def test_what_is_stored_is_known_by_its_number(store: StreamStore) -> None:
    assert await store.stored_up_to("s", "w", "e") == 0
    stored = await store.store("s", batch(), now=NOW)
    assert (stored.before, stored.seq, len(stored.fresh), stored.lost) == (0, 2, 2, 0)
    stored = await store.store("s", batch(2, 3), now=NOW)
    assert (stored.before, stored.seq, len(stored.fresh)) == (2, 4, 2)
    assert await store.stored_up_to("s", "w", "e") == 4
    assert await store.stored_up_to("t", "w", "e") == 0
    assert await store.stored_up_to("s", "v", "e") == 0


async def test_the_same_again_changes_nothing(store: StreamStore) -> None:
    await store.store("s", batch(1, 3), now=NOW)
    stored = await store.store("s", batch(1, 2), now=NOW)
    assert (stored.before, stored.seq, len(stored.fresh)) == (3, 3, 0)


async def test_a_wrong_record_keeps_the_whole_batch_out(store: StreamStore) -> None:
    with pytest.raises(RefusedBatchError) as refusal:
        await store.store("s", batch(wrong=True), now=NOW)
    assert refusal.value.reason == "malformed"
    assert await store.stored_up_to("s", "w", "e") == 0


async def test_a_handler_that_fails_moves_no_cursor(database: Database) -> None:
    def overflow(connection: Connection, writer: str, records: Sequence[object]) -> None:
        raise OverflowError("too large")

    store = SqlStreams(database, {"s": overflow})
    with pytest.raises(RefusedBatchError, match="too large"):
        await store.store("s", batch(), now=NOW)
    assert await store.stored_up_to("s", "w", "e") == 0


async def test_cursors_do_not_grow_for_ever(database: Database) -> None:
    store = SqlStreams(database, {"s": keep})
    for life in range(KEPT_EPOCHS + 3):
        await store.store("s", batch(epoch=f"e{life}"), now=NOW + life)
    assert await _count(database, stream_cursors) == KEPT_EPOCHS
    later = StreamBatch("other", "e", 1, ({},))
    await store.store("s", later, now=NOW + KEPT_WRITERS_S + 100)
    assert await _count(database, stream_cursors) == 1


async def test_cursors_of_nodes_that_are_long_gone_are_removed(database: Database) -> None:
    store = SqlReports(database, lambda *_: None)
    await store.store(reports((1,), node="gone"), now=NOW)
    await store.store(reports((1,), node="new"), now=NOW + KEPT_WRITERS_S + 1)
    assert await _count(database, cursors) == 1


async def _count(database: Database, table: Table) -> int:
    def count(connection: Connection) -> int:
        return connection.scalar(select(func.count()).select_from(table)) or 0

    return await database.read(count)
