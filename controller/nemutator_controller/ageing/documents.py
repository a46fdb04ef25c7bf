"""Findings as /api/v1 shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.windows import SymbolFrame, WindowPause

from nemutator_controller.ageing.busiest import Busiest
from nemutator_controller.ageing.graphs import thinned
from nemutator_controller.ageing.model import AgeingFinding, KeptWindow, WindowSource
from nemutator_controller.ageing.sentences import rate, sentence
from nemutator_controller.ageing.trends import SeriesPoint
from nemutator_controller.ageing.verdicts import own_frame

MOST_GRAPHS = 20
"""Items of a list that come with points: those that grow fastest."""

MOST_SERIES = 20

ListedWindows = Mapping[WindowSource, Sequence[KeptWindow]]


def finding_document(finding: AgeingFinding) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(finding)
    shown["stack"] = shown["sites"][0]["stack"] if shown["sites"] else []
    for site in shown["sites"]:
        del site["stack"]
    del shown["told"], shown["points"]
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Ageing",
        "id": finding.workload.id,
        "sentence": sentence(finding),
        "rate": rate(finding) if finding.grows else "",
        **shown,
    }


def list_document(
    findings: Sequence[AgeingFinding], pauses: Sequence[WindowPause] = ()
) -> dict[str, Any]:
    items = [
        finding_document(one) | {"points": _pairs(one.points if place < MOST_GRAPHS else ())}
        for place, one in enumerate(findings)
    ]
    paused = [
        {"node": one.node, "reason": one.reason, "why": one.why, "remedy": one.remedy}
        for one in pauses
    ]
    return {
        "apiVersion": names.API_VERSION,
        "kind": "AgeingList",
        "items": items,
        "paused": paused,
    }


def busiest_document(
    found: Busiest, frames: Mapping[str, tuple[SymbolFrame, ...]], *, seconds: int
) -> dict[str, Any]:
    """Where CPU time went in the last *seconds*."""
    named = [(own_frame(frames.get(identity, ())), count) for identity, count in found.functions]
    return {
        "seconds": seconds,
        "windows": found.windows,
        "samples": found.samples,
        "functions": [
            {
                "function": frame.function,
                "file": frame.file,
                "line": frame.line,
                "share": count / max(found.samples, 1),
            }
            for frame, count in named
        ],
    }


def item_document(
    finding: AgeingFinding, windows: ListedWindows, busiest: dict[str, Any]
) -> dict[str, Any]:
    """All that is known of one workload, with a series for each of its processes."""
    series = [
        {
            "node": source.node,
            "pid": source.pid,
            "podUid": source.pod_uid,
            "startedAt": source.started_at,
            "heap": _pairs(thinned([(one.at, one.heap_bytes) for one in of_source])),
            "memory": _pairs(thinned([(one.at, one.rss_bytes) for one in of_source])),
            "goroutines": _pairs(thinned([(one.at, one.goroutines) for one in of_source])),
        }
        for source, of_source in list(windows.items())[:MOST_SERIES]
    ]
    return finding_document(finding) | {"series": series, "busiest": busiest}


def _pairs(points: Sequence[SeriesPoint]) -> list[list[float]]:
    return [[round(at, 1), round(value, 1)] for at, value in points]
