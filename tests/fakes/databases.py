"""A real database for a test."""

import contextlib
import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.readiness import Readiness
from nemutator_controller.database.access import Database
from nemutator_controller.database.engines import Engines
from nemutator_controller.database.postgres import Server, open_postgres
from nemutator_controller.database.sqlite import open_sqlite
from nemutator_controller.usage.sql import make_room

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

LARGEST = 64 << 20


def begin_empty(path: Path) -> None:
    """Where there is no database yet, one of today's form: hundreds of tests open one, and all
    migrations take ten times as long as a copy of what they make.
    """
    if not path.exists():
        path.write_bytes(_empty())


@functools.cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.db")
        open_sqlite(path, largest_bytes=LARGEST).close()
        return path.read_bytes()


@contextlib.contextmanager
def opened(
    path: Path,
    *,
    largest_bytes: int = LARGEST,
    meter: MemoryMeter | None = None,
    readiness: Readiness | None = None,
    clock: Clock | None = None,
) -> Iterator[Database]:
    begin_empty(path)
    engines = open_sqlite(path, largest_bytes=largest_bytes)
    with _used(engines, meter=meter, readiness=readiness, clock=clock) as database:
        yield database


@contextlib.contextmanager
def opened_on(
    server: Server, *, meter: MemoryMeter | None = None, readiness: Readiness | None = None
) -> Iterator[Database]:
    """On PostgreSQL. Two of the same *server* are two brains."""
    with _used(open_postgres(server), meter=meter, readiness=readiness) as database:
        yield database


@contextlib.contextmanager
def _used(
    engines: Engines,
    *,
    meter: MemoryMeter | None,
    readiness: Readiness | None,
    clock: Clock | None = None,
) -> Iterator[Database]:
    database = Database(
        engines,
        make_room=make_room,
        process=fake_process(
            meter=meter or MemoryMeter(), readiness=readiness or Readiness(), clock=clock
        ),
    )
    try:
        yield database
    finally:
        database.close()
