from dataclasses import replace

import numpy as np
from nemutator_common.wire import Envelope, Summary
from nemutator_controller.ingest.usage_points import NamedSeries, Series, points_of

from tests.fakes.reports import report

NOW = 1_700_000_000.0


def summary(path: str = "/a", at: float = NOW, cpu_cores: float = 0.5) -> Summary:
    return Summary(
        path=path,
        pod_uid="u1",
        container_id=None,
        from_at=at - 15,
        to_at=at,
        cpu_cores=cpu_cores,
        memory_bytes=1000,
    )


def envelope(seq: int, *summaries: Summary) -> Envelope:
    return Envelope(seq, replace(report(NOW), summaries=summaries))


def test_summaries_are_rows_of_arrays_in_their_order() -> None:
    named = NamedSeries()
    first, second = summary("/a"), summary("/b", cpu_cores=2.0)
    points = points_of(named, [envelope(1, first, second), envelope(2, summary("/a", NOW + 15))])
    assert len(points) == 3
    assert points.of.tolist() == [0, 1, 0]
    assert points.to_at.tolist() == [NOW, NOW, NOW + 15]
    assert points.from_at.tolist() == [NOW - 15, NOW - 15, NOW]
    assert points.column("cpu_cores").tolist() == [0.5, 2.0, 0.5]
    assert points.column("memory_bytes").tolist() == [1000.0] * 3
    assert list(points.series) == [Series("/a", "u1", None, None), Series("/b", "u1", None, None)]


def test_a_column_that_nobody_reports_is_not_known() -> None:
    points = points_of(NamedSeries(), [envelope(1, summary())])
    assert np.isnan(points.column("throttled")).all()


def test_a_series_keeps_its_number_and_others_are_added() -> None:
    named = NamedSeries()
    assert [named.number(summary(path)) for path in ("/a", "/b", "/a", "/c")] == [0, 1, 0, 2]
    assert [one.path for one in named[1:]] == ["/b", "/c"]
    assert named.number(replace(summary("/a"), program="x")) == 3


def test_parts_are_the_points_in_their_order() -> None:
    summaries = [summary(f"/{number}", cpu_cores=float(number)) for number in range(7)]
    points = points_of(NamedSeries(), [envelope(1, *summaries)])
    parts = list(points.parts(3))
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [part.series[number].path for part in parts for number in part.of] == [
        one.path for one in summaries
    ]
    assert np.concatenate([part.column("cpu_cores") for part in parts]).tolist() == list(range(7))
    assert list(points.parts(7)) == [points]
