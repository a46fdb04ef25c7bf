"""History that is older than ours, as Prometheus has it from our remote write: a query, and what comes of its answer.

It is one query for all figures and measures of a row: each is a term that gets a label of its own. A sample has the
time at which its minute ended, so the step that ends at T is made of samples from T - step + 60 s to T. The range is
a second shorter than the step, because Prometheus before version 3 takes in a sample at its very beginning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nemutator_controller.history.cells import MEASURES, RowCells
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.written_minutes import PREFIX
from nemutator_controller.ingest.usage_codes import Numbers
from nemutator_controller.prometheus_answers import DUPLICATE, PrometheusAnswer, matchers
from nemutator_controller.prometheus_steps import by_steps

PART = "nemutator_part"
"""The label that says which term a series is of."""

UNKNOWN = "unknown"
"""A reason for which a sample is left out: nobody asked for this series."""

MOST = 1e18
"""No use is so large, and a float32 of ours still holds its square."""

_OF_PARTS = (PART, "__name__")
"""Labels that tell parts apart: VictoriaMetrics keeps the names of what it has computed from."""

MOST_COPIES = 16
"""Of one row that are looked at: each has up to 1 500 steps of 30 values, 360 KB."""

_PODS, _PODS_SUM = "pods", "pods_sum"
"""How many pods there were, and the sum of what all minutes say of that: by both it is known how many minutes there were. Of samples
that Thanos has put together, which it takes for long steps where its downsampling is automatic, `count_over_time` counts one for
each five minutes, or for each hour."""
_FUNCTIONS = {"mean": "avg", "low": "min", "high": "max", "most": "max"}


@dataclass(frozen=True, slots=True)
class OlderCells:
    cells: RowCells
    samples: int
    dropped: Mapping[str, int]
    """Samples that were left out, by reason."""
    warnings: Sequence[str] = ()
    """What the answer says of itself, such as that a part is missing."""


@dataclass(frozen=True, slots=True)
class OlderQuestion:
    """A row in steps that lie before our own history."""

    key: RowKey
    begin: int
    step_s: int
    steps: int


def expression(asked: OlderQuestion, *, external: Mapping[str, str]) -> str:
    """What to ask at the end of each step."""
    key = asked.key
    chosen = matchers(
        {
            **external,
            "namespace": key.namespace,
            "owner_kind": key.owner_kind,
            "owner": key.owner,
            "container": key.container,
        }
    )
    span = f"[{asked.step_s - 1}s]"
    terms = [(_PODS, "avg", _PODS), (_PODS_SUM, "sum", _PODS)]
    for figure in FIGURES:
        for measure in MEASURES:
            series = f"{figure.name}_pod_max" if measure == "most" else figure.name
            terms.append((f"{figure.name}_{measure}", _FUNCTIONS[measure], series))
    return " or ".join(
        f'label_replace({function}_over_time({PREFIX}{series}{chosen}{span}), "{PART}", "{part}", "", "")'
        for part, function, series in terms
    )


def older_cells(answer: PrometheusAnswer, asked: OlderQuestion) -> OlderCells:
    """A cell for each step, of which nothing is known where the answer says nothing."""
    dropped = dict(answer.dropped)
    known = {_PODS, _PODS_SUM} | {
        f"{one.name}_{measure}" for one in FIGURES for measure in MEASURES
    }
    copies: dict[frozenset[tuple[str, str]], dict[str, Numbers]] = {}
    for series in answer.series:
        part = series.labels.get(PART, "")
        copy = frozenset(one for one in series.labels.items() if one[0] not in _OF_PARTS)
        if part not in known:
            _count(dropped, UNKNOWN, len(series.at))
        elif part in copies.get(copy, {}) or (copy not in copies and len(copies) == MOST_COPIES):
            _count(dropped, DUPLICATE, len(series.at))
        else:
            copies.setdefault(copy, {})[part] = by_steps(
                series,
                begin=asked.begin,
                step_s=asked.step_s,
                steps=asked.steps,
                most=MOST,
                dropped=dropped,
            )
    parts = _best_of_copies(list(copies.values()), asked.steps)
    samples = sum(int(_known(values).sum()) for values in parts.values())
    told = sum(int(_known(values).sum()) for one in copies.values() for values in one.values())
    _count(dropped, DUPLICATE, told - samples)
    nothing = np.full(asked.steps, np.nan)
    figures: dict[str, dict[str, Numbers]] = {}
    for figure in FIGURES:
        measures = {measure: parts.get(f"{figure.name}_{measure}", nothing) for measure in MEASURES}
        if not np.isnan(measures["mean"]).all():
            figures[figure.name] = measures
    reported = np.nan_to_num(_minutes(parts, nothing)) * MINUTE_S
    cells = RowCells(
        at=asked.begin + asked.step_s * np.arange(asked.steps, dtype=np.int64),
        seconds=np.minimum(reported, asked.step_s),
        pods=parts.get(_PODS, nothing),
        figures=figures,
    )
    return OlderCells(cells, samples, dropped, answer.warnings)


def _best_of_copies(copies: Sequence[Mapping[str, Numbers]], steps: int) -> Mapping[str, Numbers]:
    """Of each step what one copy says, the one that has most minutes of it.

    Copies differ by a label that we did not write, such as that of the replica that has taken the samples. While one
    was away, or after another has taken its place, the other one alone knows the step.
    """
    if not copies:
        return {}
    minutes = np.zeros((len(copies), steps))
    for row, copy in zip(minutes, copies, strict=True):
        for values in copy.values():
            # To tell anything is better than to tell nothing.
            row[_known(values)] = 0.5
        row[:] = np.fmax(row, _minutes(copy, row))
    best = np.argmax(minutes, axis=0)
    found = {part: np.full(steps, np.nan) for part in sorted({*chain.from_iterable(copies)})}
    for number, copy in enumerate(copies):
        for part, values in copy.items():
            found[part][best == number] = values[best == number]
    return found


def _minutes(parts: Mapping[str, Numbers], otherwise: Numbers) -> Numbers:
    """Of which something was told."""
    if _PODS not in parts or _PODS_SUM not in parts:
        return otherwise
    pods, total = parts[_PODS], parts[_PODS_SUM]
    each = np.divide(total, pods, out=np.full(len(pods), np.nan), where=pods > 0)
    return np.asarray(np.round(each), dtype=np.float64)


def _known(values: Numbers) -> NDArray[np.bool_]:
    return ~np.isnan(values)


def _count(dropped: dict[str, int], reason: str, number: int) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number


def joined(older: RowCells, ours: RowCells, *, seam: int) -> RowCells:
    """*older*, and then *ours* from *seam* on."""
    after = ours.at >= seam
    count, rest = len(older.at), int(after.sum())

    def both(before: Numbers | None, since: Numbers | None) -> Numbers:
        first = np.full(count, np.nan) if before is None else before
        second = np.full(rest, np.nan) if since is None else since[after]
        return np.concatenate([first, second])

    figures = {
        name: {
            measure: both(
                older.figures.get(name, {}).get(measure), ours.figures.get(name, {}).get(measure)
            )
            for measure in MEASURES
        }
        for name in {**older.figures, **ours.figures}
    }
    return RowCells(
        at=np.concatenate([older.at, ours.at[after]]),
        seconds=both(older.seconds, ours.seconds),
        pods=both(older.pods, ours.pods),
        figures=figures,
    )
