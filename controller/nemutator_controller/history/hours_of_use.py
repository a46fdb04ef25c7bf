"""What the busiest pod of a row used in each hour, five minutes at a time: pure."""

from dataclasses import dataclass

import numpy as np

from nemutator_controller.history.cells import RowCells, busiest_pod, stepped
from nemutator_controller.history.days import FIVE_S
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_codes import Numbers

HOUR_S = 3600
PER_HOUR = HOUR_S // FIVE_S


@dataclass(frozen=True, slots=True)
class HoursOfUse:
    usage: UsageHistory

    def cores(self, key: RowKey, *, begin: int, hours: int) -> Numbers:
        """By hours from the hour *begin* on, counted from the epoch, and their steps; NaN: not known."""
        cells = self._cells(key, begin, hours)
        if cells is None:
            return np.full((hours, PER_HOUR), np.nan)
        found = busiest_pod(
            cells, "cpu_cores", begin=begin * HOUR_S, step_s=FIVE_S, steps=hours * PER_HOUR
        )
        return found.reshape(hours, PER_HOUR)

    def throttled(self, key: RowKey, *, hour: int) -> float:
        """The share of that hour in which its pods were stopped at their CPU limit; 0 where nobody says so."""
        cells = self._cells(key, hour, 1)
        if cells is None or "throttled" not in cells.figures:
            return 0.0
        told = stepped(cells, begin=hour * HOUR_S, step_s=HOUR_S, steps=1)
        share = float(told.figures["throttled"]["mean"][0])
        return 0.0 if np.isnan(share) else share

    def _cells(self, key: RowKey, begin: int, hours: int) -> RowCells | None:
        try:
            return self.usage.cells(key, begin=begin * HOUR_S, end=(begin + hours) * HOUR_S)
        except KeyError:
            return None
