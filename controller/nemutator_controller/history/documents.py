"""The documents of history: arrays in steps with null for gaps, the whole window, and the usual week."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from nemutator_common import names

from nemutator_controller.history.cells import RowCells, stepped
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.questions import HistoryQuestion
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.weeks import WeekView
from nemutator_controller.ingest.usage_codes import Numbers

Known = float | None
Measured = Mapping[str, Sequence[Known]]

_DECIMALS = {one.name: one.decimals for one in FIGURES}
_PODS = 2


@dataclass(frozen=True, slots=True)
class UsualWeek:
    """168 hours, UTC, from Monday 0:00: what this hour was like in the last weeks."""

    minutes: Sequence[float]
    """Of which each hour was made; those of past weeks weigh less."""
    figures: Mapping[str, Measured]
    """By name, then `p25`, `median`, `p75`, `p95` and `max`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderPart:
    """Of the steps that lie before our own history."""

    source: str = "Prometheus"
    steps: int
    samples: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Samples that were left out, by reason."""
    missing: str = ""
    """Why nothing is known of them."""
    warnings: Sequence[str] = ()
    """What the source says of its own answer, such as that a part of it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadHistory:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "WorkloadHistory"
    namespace: str
    owner_kind: str
    owner: str
    container: str
    from_at: int
    step_s: int
    steps: int
    pods: Sequence[Known]
    """How many there were, as a mean over each step."""
    figures: Mapping[str, Measured]
    """By name: `mean`, `low` and `high` of the sum of all pods, and the `most` that one pod used."""
    window: Mapping[str, Mapping[str, Known]]
    """The same over the whole time."""
    week: UsualWeek | None
    """None: no whole hour was seen yet."""
    older: OlderPart | None = None
    """None: all of it is our own."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    heard_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRows:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "HistoryRows"
    items: Sequence[HistoryRow]
    left_off: int
    """How many more there are."""


def workload_history(
    key: RowKey,
    cells: RowCells,
    week: WeekView,
    asked: HistoryQuestion,
    older: OlderPart | None = None,
) -> WorkloadHistory:
    found = stepped(cells, begin=asked.begin, step_s=asked.step_s, steps=asked.steps)
    span_s = asked.end - asked.begin
    whole = stepped(cells, begin=asked.begin, step_s=span_s, steps=1)
    figures = {name: _measured(name, one) for name, one in found.figures.items() if _any(one)}
    window = {
        name: {measure: _known(values, _DECIMALS[name])[0] for measure, values in one.items()}
        for name, one in whole.figures.items()
        if _any(one)
    }
    return WorkloadHistory(
        namespace=key.namespace,
        owner_kind=key.owner_kind,
        owner=key.owner,
        container=key.container,
        from_at=asked.begin,
        step_s=asked.step_s,
        steps=asked.steps,
        pods=_known(found.pods, _PODS),
        figures=figures,
        window=window,
        week=_week(week),
        older=older,
    )


def _week(week: WeekView) -> UsualWeek | None:
    if not week.minutes.any():
        return None
    figures = {name: _measured(name, one) for name, one in week.figures.items() if _any(one)}
    return UsualWeek([round(float(one), 1) for one in week.minutes], figures)


def _measured(name: str, one: Mapping[str, Numbers]) -> Measured:
    return {measure: _known(values, _DECIMALS[name]) for measure, values in one.items()}


def _any(one: Mapping[str, Numbers]) -> bool:
    return any(not np.isnan(values).all() for values in one.values())


def _known(values: Numbers, decimals: int) -> list[Known]:
    known = np.isnan(values).tolist()
    rounded = np.round(values, decimals).tolist()
    return [None if gap else value for gap, value in zip(known, rounded, strict=True)]
