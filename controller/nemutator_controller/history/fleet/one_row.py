"""One row of saved history, cut out of the slices that it shares with two thousand others, and put back by itself."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.saved_history import Restoring
from nemutator_controller.history.slices import PART, SavedRow, Slice
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_points import Series


class OtherFormError(Exception):
    """Another version has saved it, in a form that this one cannot read."""


@dataclass(frozen=True, slots=True)
class HeardRow:
    row: SavedRow
    heard_at: float
    """When it was reported last, as that cluster's brain has saved it; 0 where it has not yet."""


def cut(one: Slice, row: SavedRow) -> Slice | None:
    """*one* with what is of *row* alone; None: it was written before the row was there."""
    place = row.number % PART
    arrays = {
        name: np.array(array[place : place + 1])
        for name, array in one.arrays.items()
        if len(array) > place
    }
    if not arrays or one.saved < row.since:
        return None
    return replace(one, name=replace(one.name, part=0), arrays=arrays)


def put_back(row: SavedRow, cuts: Iterable[Slice], *, now: float) -> UsageHistory:
    """A history that knows *row* and nothing else; *cuts* are by level, in the order of `LEVELS`."""
    usage = UsageHistory(_nobody, most=1)
    restoring = Restoring(usage, now=now)
    restoring.put_rows([replace(row, number=0)], now=now)
    by_level: dict[str, list[Slice]] = {}
    for one in cuts:
        by_level.setdefault(one.name.level, []).append(one)
    for several in by_level.values():
        restoring.put_slices(several)
    return usage


def _nobody(node: str, series: Series) -> RowKey | None:
    return None
