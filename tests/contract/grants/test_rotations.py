"""Which pods have had a secret changed, from the records of their nodes."""

from pathlib import Path
from typing import Any

import msgspec
from nemutator_controller.grants.sql import SqlGrants

from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.grants import grant
from tests.fakes.process import fake_process


def record(**changed: Any) -> dict[str, object]:
    return dict(msgspec.to_builtins(grant(**changed)))


async def test_only_rotations_that_were_seen_count(tmp_path: Path) -> None:
    records = [
        record(operation="read", pod_uid="reads"),
        record(operation="rotate", pod_uid="old"),
        record(operation="rotate", pod_uid="old", secret="other"),
        record(operation="rotate", pod_uid="failed", result="failed"),
        record(operation="rotate", pod_uid="not asked for"),
    ]
    with opened(tmp_path / "x.db") as database:
        store = SqlGrants(database, process=fake_process(clock=ManualClock()))
        assert await store.rotated({"old"}) == set()
        await database.write(lambda connection: store.record(connection, "n1", records))
        assert await store.rotated({"old", "reads", "failed", "unknown"}) == {("n1", "old")}
