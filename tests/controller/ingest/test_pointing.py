from dataclasses import replace

import numpy as np
import pytest
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.ingest.pointing import PointedReport, PointedReports, pointed
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.series_tables import SeriesTables, UnknownSeriesError
from nemutator_controller.ingest.usage_points import NamedSeries, UsagePoints, points_of

from tests.controller.ingest.test_columns import body_of, said, summary, taken
from tests.fakes.batches import NOW, busy_report

REPORTS = (
    said(summary("/a"), summary("/b", throttled=0.25)),
    said(summary("/b", cpu_cores=2.0)),
    busy_report(),
)


def named() -> tuple[SeriesTables, Batch]:
    tables, batch = SeriesTables(most_nodes=5), taken(body_of(*REPORTS))
    tables.add(batch.node, batch.epoch, batch.names)
    return tables, batch


def same(one: UsagePoints, other: UsagePoints) -> None:
    assert [one.series[number] for number in one.of] == [
        other.series[number] for number in other.of
    ]
    for left, right in ((one.from_at, other.from_at), (one.to_at, other.to_at)):
        np.testing.assert_array_equal(left, right)
    for name in ("cpu_cores", "memory_bytes", "throttled"):
        np.testing.assert_array_equal(one.column(name), other.column(name))


def test_each_report_names_what_its_points_are_of_and_nothing_else() -> None:
    tables, batch = named()
    found = [envelope.report for envelope in pointed(batch, tables).envelopes]  # type: ignore[arg-type]
    for one, report in zip(found[:2], REPORTS[:2], strict=True):
        assert isinstance(one, PointedReport)
        assert one.points is not None
        same(one.points, points_of(NamedSeries(), [Envelope(1, report)]))
        assert one.machine == report.machine
    assert [each.path for each in found[1].points.series] == ["/b"]  # type: ignore[attr-defined]
    assert found[2].points is None  # type: ignore[attr-defined]


def test_series_that_have_no_name_are_told() -> None:
    _, batch = named()
    with pytest.raises(UnknownSeriesError):
        pointed(batch, SeriesTables(most_nodes=5))  # type: ignore[arg-type]


class Kept:
    def __init__(self) -> None:
        self.batches: list[Batch] = []

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return 7

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        self.batches.append(batch)
        return Stored(0, batch.envelopes[-1].seq, batch.envelopes)


async def test_reports_of_columns_are_stored_with_their_points_and_others_as_they_are() -> None:
    tables, batch = named()
    kept = Kept()
    store = PointedReports(kept, tables)
    assert (await store.store(batch, now=NOW)).seq == len(REPORTS)
    plain = Batch("n1", "e1", (Envelope(9, replace(busy_report(), taken_at=NOW)),))
    await store.store(plain, now=NOW)
    assert isinstance(kept.batches[0].envelopes[0].report, PointedReport)
    assert kept.batches[1] is plain
    assert await store.stored_up_to("n1", "e1") == 7
