"""History that is older than ours, as Prometheus has it from our remote write: a query, and what comes of its answer.

It is one query for all figures and measures of a row: each is a term that gets a label of its own. A sample has the
time at which its minute ended, so the step that ends at T is made of samples from T - step + 60 s to T. The range is
a second shorter than the step, because Prometheus before version 3 takes in a sample at its very beginning.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nemutator_controller.history.cells import MEASURES, RowCells
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.written_minutes import PREFIX
from nemutator_controller.ingest.usage_codes import Numbers
from nemutator_controller.prometheus_answers import DUPLICATE, PrometheusAnswer, matchers

PART = "nemutator_part"
"""The label that says which term a series is of."""

ABSURD, OFF_GRID, UNKNOWN = "absurd", "off_grid", "unknown"
"""Reasons for which a sample is left out, beside those of the answer: no amount can be so, nobody asked for this
moment, nobody asked for this series."""

MOST = 1e18
"""No use is so large, and a float32 of ours still holds its square."""

_PODS, _COUNT = "pods", "count"
_FUNCTIONS = {"mean": "avg", "low": "min", "high": "max", "most": "max"}


@dataclass(frozen=True, slots=True)
class OlderCells:
    cells: RowCells
    samples: int
    dropped: Mapping[str, int]
    """Samples that were left out, by reason."""


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
    terms = [(_PODS, "avg", _PODS), (_COUNT, "count", _PODS)]
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
    known = {_PODS, _COUNT} | {f"{one.name}_{measure}" for one in FIGURES for measure in MEASURES}
    parts: dict[str, Numbers] = {}
    samples = 0
    for series in answer.series:
        part = series.labels.get(PART, "")
        reason = UNKNOWN if part not in known else DUPLICATE if part in parts else ""
        if reason:
            # Two of one part differ by a label that we did not write, such as that of a replica.
            dropped[reason] = dropped.get(reason, 0) + len(series.at)
            continue
        at, values = np.asarray(series.at), np.asarray(series.values)
        place = (at - asked.begin) / asked.step_s - 1
        index = np.rint(place)
        on_grid = (np.abs(place - index) < 1e-3) & (index >= 0) & (index < asked.steps)
        sound = on_grid & (values >= 0) & (values <= MOST)
        for why, number in (
            (OFF_GRID, int((~on_grid).sum())),
            (ABSURD, int((on_grid & ~sound).sum())),
        ):
            if number:
                dropped[why] = dropped.get(why, 0) + number
        found = parts[part] = np.full(asked.steps, np.nan)
        found[index[sound].astype(np.int64)] = values[sound]
        samples += int(sound.sum())
    nothing = np.full(asked.steps, np.nan)
    figures: dict[str, dict[str, Numbers]] = {}
    for figure in FIGURES:
        measures = {measure: parts.get(f"{figure.name}_{measure}", nothing) for measure in MEASURES}
        if not np.isnan(measures["mean"]).all():
            figures[figure.name] = measures
    reported = np.nan_to_num(parts.get(_COUNT, nothing)) * MINUTE_S
    cells = RowCells(
        at=asked.begin + asked.step_s * np.arange(asked.steps, dtype=np.int64),
        seconds=np.minimum(reported, asked.step_s),
        pods=parts.get(_PODS, nothing),
        figures=figures,
    )
    return OlderCells(cells, samples, dropped)


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
