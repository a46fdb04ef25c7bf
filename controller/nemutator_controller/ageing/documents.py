"""Findings as /api/v1 shows them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.ageing.growth import binned
from nemutator_controller.ageing.model import AgeingFinding, KeptWindow, WindowSource
from nemutator_controller.ageing.sentences import rate, sentence
from nemutator_controller.ageing.trends import SeriesPoint

MOST_POINTS = 120
MOST_SERIES = 20

ListedWindows = Mapping[WindowSource, Sequence[KeptWindow]]


def finding_document(finding: AgeingFinding) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(finding)
    shown["stack"] = shown["sites"][0]["stack"] if shown["sites"] else []
    for site in shown["sites"]:
        del site["stack"]
    del shown["told"]
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Ageing",
        "id": finding.workload.id,
        "sentence": sentence(finding),
        "rate": rate(finding) if finding.grows else "",
        **shown,
    }


def list_document(
    findings: Iterable[AgeingFinding], points: Mapping[str, Sequence[SeriesPoint]]
) -> dict[str, Any]:
    """*points*: by the id of a workload, what its graph is drawn of."""
    items = [
        finding_document(one) | {"points": _pairs(points.get(one.workload.id, ()))}
        for one in findings
    ]
    return {"apiVersion": names.API_VERSION, "kind": "AgeingList", "items": items}


def item_document(finding: AgeingFinding, windows: ListedWindows) -> dict[str, Any]:
    """All that is known of one workload, with a series for each of its processes."""
    series = [
        {
            "node": source.node,
            "pid": source.pid,
            "podUid": source.pod_uid,
            "startedAt": source.started_at,
            "heap": _pairs(_thinned([(one.at, one.heap_bytes) for one in of_source])),
            "memory": _pairs(_thinned([(one.at, one.rss_bytes) for one in of_source])),
            "goroutines": _pairs(_thinned([(one.at, one.goroutines) for one in of_source])),
        }
        for source, of_source in list(windows.items())[:MOST_SERIES]
    ]
    return finding_document(finding) | {"series": series}


def graph_points(measure: str, windows: ListedWindows) -> Sequence[SeriesPoint]:
    """The series of the oldest process, which is what a list's graph shows."""
    if not windows:
        return ()
    oldest = min(windows, key=lambda source: source.started_at)
    of_oldest = windows[oldest]
    values = [(one.at, one.heap_bytes if measure == "heap" else one.rss_bytes) for one in of_oldest]
    return _thinned(values) or _thinned([(one.at, one.heap_bytes) for one in of_oldest])


def _thinned(values: Sequence[tuple[float, int | None]]) -> list[SeriesPoint]:
    points = [SeriesPoint(at, value) for at, value in values if value is not None]
    if len(points) <= MOST_POINTS:
        return points
    return binned(points, (points[-1].at - points[0].at) / (MOST_POINTS - 1))


def _pairs(points: Sequence[SeriesPoint]) -> list[list[float]]:
    return [[round(at, 1), round(value)] for at, value in points]
