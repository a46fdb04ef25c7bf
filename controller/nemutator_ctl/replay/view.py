"""What strategies would have done, for people and as a document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from nemutator_controller.sizing.outcomes import Outcome
from nemutator_controller.sizing.recordings import Recording
from nemutator_controller.sizing.strategies.known import Resource

from nemutator_ctl.tables import Column, table

_LAYOUT = (
    Column("STRATEGY"),
    Column("REQUESTED/USED", right=True),
    Column("MISSED", right=True),
    Column("CHANGES/DAY", right=True),
    Column("MOST", right=True),
    Column("SILENT", right=True),
    Column("REQUESTED/USED AT {}", right=True),
)


def document(
    resource: Resource,
    recording: Recording,
    own: Sequence[Outcome],
    alike: Sequence[Outcome | None],
    *,
    missed: float,
) -> Mapping[str, Any]:
    """*own*: with each strategy's own number. *alike*: with those that miss as much as the others."""
    return {
        "resource": resource,
        "containers": len(recording.judged),
        "tooShort": len(recording.uses) - len(recording.judged),
        "days": round(sum(use.hours for use in recording.judged) / 24, 2),
        "leftOut": dict(recording.dropped),
        "comparedAt": missed,
        "items": [
            {"own": _plain(one), "compared": None if other is None else _plain(other)}
            for one, other in zip(own, alike, strict=True)
        ],
    }


def view(shown: Mapping[str, Any]) -> str:
    share = f"{shown['comparedAt']:.0%}"
    what = "of days with a kill" if shown["resource"] == "memory" else "of use above the request"
    layout = [
        Column(column.title.format(share), right=column.right, limit=column.limit)
        for column in _LAYOUT
    ]
    rows = []
    for item in shown["items"]:
        own, compared = item["own"], item["compared"]
        rows.append(
            (
                own["strategy"],
                _figure(own["cost"], "{:.2f}"),
                _figure(own["missed"], "{:.2%}"),
                _figure(own["changes"], "{:.1f}"),
                _figure(own["most_changes"], "{:.1f}"),
                _figure(own["silent"], "{:.0%}"),
                "never" if compared is None else _figure(compared["cost"], "{:.2f}"),
            )
        )
    short = f" ({shown['tooShort']} with less than two hours left out)" if shown["tooShort"] else ""
    return (
        f"{shown['resource']} of {_counted(shown['containers'])}{short}, {shown['days']:g} days in all;"
        f" missed: the share {what}\n" + table(layout, rows)
    )


def _counted(containers: int) -> str:
    return "1 container" if containers == 1 else f"{containers} containers"


def _plain(outcome: Outcome) -> dict[str, Any]:
    """JSON has no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(outcome).items()
    }


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
