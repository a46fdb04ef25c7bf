"""The database under a running brain."""

import asyncio
import gc
import logging
import sqlite3
import threading
import weakref
from functools import partial
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_controller.database.access import LONGEST_QUEUE, RECALLED_S
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.schema import history, sessions
from nemutator_controller.database.threads import JobThreads
from sqlalchemy import Connection, func, insert, select

from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.meters import MemoryMeter

PATIENCE_S = 60.0


def point(connection: Connection, at: float, *, node: str = "n" * 250) -> None:
    connection.execute(insert(history).values(node=node, at=at, memory_used_bytes=1))


def count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(history)) or 0


async def test_a_job_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(connection: Connection) -> None:
        point(connection, 1)
        raise LookupError

    with opened(tmp_path / "x.db") as database:
        with pytest.raises(LookupError):
            await database.write(half)
        assert await database.read(count) == 0


async def test_what_was_written_is_read_after_opening_again(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        await database.write(partial(point, at=1))
    with opened(tmp_path / "x.db") as database:
        assert await database.read(count) == 1


async def test_a_full_database_gives_up_its_oldest_points_for_new_ones(tmp_path: Path) -> None:
    meter, readiness = MemoryMeter(), Readiness()
    limits = {"largest_bytes": 80 * 4096, "meter": meter, "readiness": readiness}
    with opened(tmp_path / "x.db", **limits) as database:  # type: ignore[arg-type]
        for at in range(600):
            await database.write(partial(point, at=at))
        newest = await database.read(lambda c: c.scalar(select(func.max(history.c.at))))
        oldest = await database.read(lambda c: c.scalar(select(func.min(history.c.at))))
    assert newest == 599
    assert oldest > 0
    assert meter.value(names.HISTORY_DROPPED, reason="full") > 0
    assert not readiness.problems()


async def test_a_full_one_without_anything_old_says_so_and_recovers_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    meter, readiness = MemoryMeter(), Readiness()

    def much(connection: Connection) -> None:
        rows = [{"digest": bytes([number]) * 4000, "expires_at": 1.0} for number in range(200)]
        connection.execute(insert(sessions), rows)

    limits = {"largest_bytes": 80 * 4096, "meter": meter, "readiness": readiness}
    with opened(tmp_path / "x.db", **limits) as database:  # type: ignore[arg-type]
        with pytest.raises(StoreUnavailableError) as failure:
            await database.write(much)
        assert failure.value.reason == "full"
        assert meter.value(names.DATABASE_FAILURES, operation="write", reason="full") == 1
        assert f"no space left on the disk of {tmp_path}" in readiness.problems()["database"]
        for at in range(2):
            await database.write(partial(point, at=at))
        assert not readiness.problems()
    assert [record.message for record in caplog.records].count("database_recovered") == 1


@pytest.mark.slow
async def test_a_lock_of_another_program_is_busy_and_passes(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError) as failure:
            await database.write(partial(point, at=1))
        assert failure.value.reason == "busy"
        assert await database.read(count) == 0
        other.close()
        await database.write(partial(point, at=1))


@pytest.mark.parametrize("another", [False, True])
async def test_one_that_was_moved_away_takes_nothing_until_it_is_back(
    tmp_path: Path, another: bool
) -> None:
    path, away = tmp_path / "x.db", tmp_path / "away.db"
    meter = MemoryMeter()
    with opened(path, meter=meter) as database:
        await database.write(partial(point, at=1))
        path.rename(away)
        if another:
            path.write_bytes(b"")
        with pytest.raises(StoreUnavailableError, match="moved or deleted") as failure:
            await database.write(partial(point, at=2))
        assert str(tmp_path) in failure.value.remedy
        assert meter.value(names.DATABASE_FAILURES, operation="write", reason="gone") == 1
        away.rename(path)
        await database.write(partial(point, at=3))
        assert await database.read(count) == 2


async def test_a_stuck_writer_fails_by_deadline_then_by_a_full_queue(tmp_path: Path) -> None:
    release = threading.Event()
    ran: list[int] = []

    def note(number: int, _: Connection) -> None:
        ran.append(number)

    with opened(tmp_path / "x.db") as database:
        with pytest.raises(StoreUnavailableError) as failure:
            await database.write(lambda _: release.wait(PATIENCE_S), deadline_s=0.01)
        assert failure.value.reason == "deadline"
        for number in range(LONGEST_QUEUE):
            with pytest.raises(StoreUnavailableError):
                await database.write(partial(note, number), deadline_s=0.001)
        with pytest.raises(StoreUnavailableError) as failure:
            await database.write(lambda _: None, deadline_s=0.001)
        assert failure.value.reason == "queue_full"
        release.set()
    # Whoever gave up is not worked for.
    assert not ran


async def test_what_is_too_slow_is_told_while_only_other_jobs_are_done(tmp_path: Path) -> None:
    readiness, clock = Readiness(), ManualClock()

    def slow(_: Connection, *, release: threading.Event) -> None:
        release.wait(60)

    with opened(tmp_path / "x.db", readiness=readiness, clock=clock) as database:

        async def is_too_slow() -> None:
            release = threading.Event()
            with pytest.raises(StoreUnavailableError):
                await database.write(partial(slow, release=release), deadline_s=0.01)
            release.set()

        await is_too_slow()
        await database.write(partial(point, at=1))
        assert "in time" in readiness.problems()["database"]
        done = threading.Event()
        done.set()
        await database.write(partial(slow, release=done))
        assert not readiness.problems()
        await is_too_slow()
        await clock.advance(RECALLED_S)
        # Nobody has tried it again.
        await database.write(partial(point, at=2))
        assert not readiness.problems()


@pytest.mark.parametrize("fails", [False, True])
async def test_who_has_given_up_hears_of_what_was_written_after_all(
    tmp_path: Path, fails: bool
) -> None:
    began, release, heard = threading.Event(), threading.Event(), list[str]()

    def slow(connection: Connection) -> str:
        began.set()
        point(connection, 1)
        release.wait(60)
        if fails:
            raise LookupError
        return "written"

    with opened(tmp_path / "x.db") as database:
        # Of those whose turn has not come by their deadline nothing is done.
        while not began.is_set():
            with pytest.raises(StoreUnavailableError):
                await database.write(slow, deadline_s=0.01, late=heard.append)
        with pytest.raises(StoreUnavailableError):
            await database.write(lambda _: "never", deadline_s=0.001, late=heard.append)
        assert not heard
        release.set()
        assert await database.write(lambda _: "in time", late=heard.append) == "in time"
        assert heard == ([] if fails else ["written"])
        assert await database.read(count) == len(heard)


async def test_jobs_that_wait_behind_one_that_hangs_keep_nothing_once_they_are_given_up(
    tmp_path: Path,
) -> None:
    class Batch:
        def write(self, _: Connection) -> None:
            raise AssertionError("nobody waits for it")

        def heard(self, _: None) -> None:
            raise AssertionError("nothing was written")

    release = threading.Event()
    with opened(tmp_path / "x.db") as database:
        with pytest.raises(StoreUnavailableError):
            await database.write(lambda _: release.wait(60), deadline_s=0.01)
        batch = Batch()
        given_up = weakref.ref(batch)
        with pytest.raises(StoreUnavailableError):
            await database.write(batch.write, deadline_s=0.001, late=batch.heard)
        del batch
        # The thread's future hears of it with the next turn of the loop.
        await asyncio.sleep(0)
        gc.collect()
        assert given_up() is None
        release.set()


def test_closing_finishes_what_was_submitted() -> None:
    threads = JobThreads("test", count=1, length=5)
    futures = [threads.submit(partial(abs, number)) for number in range(5)]
    threads.close(5)
    assert [future.result(0) for future in futures] == [0, 1, 2, 3, 4]
