"""Rows of history as lines of a table that other programs read: five minutes of one container in each."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from nemutator_controller.history import days
from nemutator_controller.history.cells import MEASURES
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.usage_history import UsageHistory

COLUMNS = (
    *("time", "namespace", "owner_kind", "owner", "container", "pods"),
    *(f"{figure.name}_{measure}" for figure in FIGURES for measure in MEASURES),
)

_POD_DECIMALS = 2

Cell = str | None


def is_settled(usage: UsageHistory, end: float) -> bool:
    """Whether nothing before *end* changes any more."""
    return usage.settled_to * MINUTE_S >= end


def exported_rows(
    usage: UsageHistory, rows: range, *, begin: float, end: float
) -> list[Sequence[Cell]]:
    """Lines of *rows* from *begin* to *end*, as many as are kept, with a cell for each of `COLUMNS`.

    Of five minutes in which a container was not reported there is no line.
    """
    cells = np.arange(int(begin // days.FIVE_S), int(end // days.FIVE_S))
    # In the place of what the ring has no room for any more is another time.
    cells = cells[cells >= usage.settled_to // days.MINUTES - days.CELLS]
    view = usage.days.view(np.array(rows), cells)
    times = [_moment(int(cell)) for cell in cells]
    unknown = np.full(view.pods.shape, np.nan)
    columns = [np.round(view.pods, _POD_DECIMALS)]
    for figure in FIGURES:
        known = view.figures.get(figure.name)
        columns += [
            unknown if known is None else np.round(known[measure], figure.decimals)
            for measure in MEASURES
        ]
    found: list[Sequence[Cell]] = []
    for place, cell in np.argwhere(~np.isnan(view.pods)).tolist():
        key = usage.rows.key(rows[place])
        if key is not None:
            named = times[cell], key.namespace, key.owner_kind, key.owner, key.container
            found.append((*named, *(_shown(float(column[place, cell])) for column in columns)))
    return found


def _moment(cell: int) -> str:
    return f"{datetime.fromtimestamp(cell * days.FIVE_S, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _shown(value: float) -> Cell:
    """Without an exponent, and without digits that say nothing."""
    return None if np.isnan(value) else f"{value:.4f}".rstrip("0").removesuffix(".")
