"""Which pods have had a secret changed, from the records of their nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_controller.database.access import Database
from nemutator_controller.grants.sql import SqlGrants

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.clocks import ManualClock
from tests.fakes.grants import grant
from tests.fakes.process import fake_process


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with opened_for(request, tmp_path) as database:
        yield database


def record(**changed: Any) -> dict[str, object]:
    return dict(msgspec.to_builtins(grant(**changed)))


@pytest.mark.parametrize("database", KINDS[1:], indirect=True)
async def test_only_rotations_that_were_seen_count(database: Database) -> None:
    records = [
        record(operation="read", pod_uid="reads"),
        record(operation="rotate", pod_uid="old"),
        record(operation="rotate", pod_uid="old", secret="other"),
        record(operation="rotate", pod_uid="failed", result="failed"),
        record(operation="rotate", pod_uid="not asked for"),
    ]
    store = SqlGrants(database, process=fake_process(clock=ManualClock()))
    assert await store.rotated({"old"}) == set()
    await database.write(lambda connection: store.record(connection, "n1", records))
    assert await store.rotated({"old", "reads", "failed", "unknown"}) == {("n1", "old")}
