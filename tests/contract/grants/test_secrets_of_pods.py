"""What some pods were given, in each kind of database."""

from collections.abc import Iterator
from pathlib import Path

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


@pytest.mark.parametrize("database", KINDS[1:], indirect=True)
async def test_only_what_these_pods_were_given_is_found(database: Database) -> None:
    store = SqlGrants(database, process=fake_process(clock=ManualClock()))
    records = [msgspec.to_builtins(grant(pod_uid=f"u{number}")) for number in range(4)]
    await database.write(lambda connection: store.record(connection, "n1", records))
    pods = ["u1", "u3", "u9"]
    leases = await store.leases(namespace="shop", pod_uids=pods, limit=10)
    assert {one.pod_uid for one in leases} == {"u1", "u3"}
    grants = await store.grants(namespace="shop", pod_uids=pods, digests=None, limit=10)
    assert [one.pod_uid for one in grants] == ["u3", "u1"]
    assert list(await store.leases(namespace="bank", pod_uids=pods, limit=10)) == []
    assert list(await store.leases(namespace="shop", pod_uids=[], limit=10)) == []
