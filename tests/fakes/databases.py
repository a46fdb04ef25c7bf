"""A real database for a test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from nemutator_common.readiness import Readiness
from nemutator_controller.database.access import Database
from nemutator_controller.usage.sql import make_room

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

LARGEST = 64 << 20


@contextlib.contextmanager
def opened(
    path: Path,
    *,
    largest_bytes: int = LARGEST,
    meter: MemoryMeter | None = None,
    readiness: Readiness | None = None,
) -> Iterator[Database]:
    database = Database(
        path,
        largest_bytes=largest_bytes,
        make_room=make_room,
        process=fake_process(meter=meter or MemoryMeter(), readiness=readiness or Readiness()),
    )
    try:
        yield database
    finally:
        database.close()
