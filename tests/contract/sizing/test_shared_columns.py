"""Reports as columns are handed on to the brain that learns: what it reads is what JSON would have said."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.database.access import Database
from nemutator_controller.ingest.pointing import PointedReports
from nemutator_controller.ingest.series_tables import SeriesTables
from nemutator_controller.ingest.sql import SqlReports
from nemutator_controller.sizing.shared.kept_points import unpack
from nemutator_controller.sizing.shared.sql import SqlSharedUsages, with_points
from nemutator_controller.usage.sql import record

from tests.contract.store_kinds import opened_for
from tests.controller.ingest.test_columns import body_of, said, summary, taken
from tests.controller.sizing.shared.brains import FLOW
from tests.fakes.batches import NOW, busy_report


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with opened_for(request, tmp_path) as opened:
        yield opened


async def test_points_of_columns_wait_as_those_of_json_do(database: Database) -> None:
    reports = (
        said(summary("/a"), summary("/b", throttled=0.25)),
        busy_report(),
        said(summary("/b")),
    )
    tables, columns = SeriesTables(most_nodes=5), taken(body_of(*reports))
    tables.add("n1", columns.epoch, columns.names)
    json = Batch("n2", "e1", tuple(Envelope(n, one) for n, one in enumerate(reports, 1)))
    store = PointedReports(SqlReports(database, with_points(record)), tables)
    for batch in (columns, columns, json):
        assert (await store.store(batch, now=NOW)).seq == len(reports)
    shared = SqlSharedUsages(database, "a")
    waiting = await shared.points(await shared.waiting())
    # A report of columns has its own row, those of JSON in one transaction share one.
    assert [one.node for one in waiting] == ["n1", "n1", "n2"]
    first, second, both = (unpack(one.packed)[0] for one in waiting)
    assert [each.path for each in second.series] == ["/b"]
    assert len(first) + len(second) == len(both)
    together = [
        (points.series[number], cores, throttled)
        for points in (first, second)
        for number, cores, throttled in zip(
            points.of, points.column("cpu_cores"), points.column("throttled"), strict=True
        )
    ]
    wanted = zip(both.of, both.column("cpu_cores"), both.column("throttled"), strict=True)
    for found, (number, cores, throttled) in zip(together, wanted, strict=True):
        assert found[:2] == (both.series[number], cores)
        assert found[2] == pytest.approx(throttled, nan_ok=True)


async def test_flows_wait_with_the_points_also_of_a_report_that_has_none(
    database: Database,
) -> None:
    reports = (replace(said(summary("/a")), flows=(FLOW,)), replace(said(), flows=(FLOW, FLOW)))
    tables, columns = SeriesTables(most_nodes=5), taken(body_of(*reports))
    tables.add("n1", columns.epoch, columns.names)
    json = Batch("n2", "e1", tuple(Envelope(n, one) for n, one in enumerate(reports, 1)))
    store = PointedReports(SqlReports(database, with_points(record)), tables)
    for batch in (columns, columns, json):
        await store.store(batch, now=NOW)
    shared = SqlSharedUsages(database, "a")
    waiting = await shared.points(await shared.waiting())
    found = [(one.node, *unpack(one.packed)) for one in waiting]
    assert [(node, len(points), flows) for node, points, flows in found] == [
        ("n1", 1, (FLOW,)),
        ("n1", 0, (FLOW, FLOW)),
        ("n2", 1, (FLOW, FLOW, FLOW)),
    ]
