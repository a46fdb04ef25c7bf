"""What one container of a workload used, as it was recorded: one row for each of its pods."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

HOUR_S = 3600
DAY_HOURS = 24


@dataclass(frozen=True, slots=True, eq=False)
class RecordedUse:
    name: str
    step_s: int
    """An hour is a whole number of steps."""
    pods: Numbers
    """A row for each pod, a column for each step; NaN where the pod was not seen."""

    def __post_init__(self) -> None:
        if self.step_s < 1 or HOUR_S % self.step_s:
            raise ValueError(f"an hour is not a whole number of {self.step_s} s")

    @property
    def per_hour(self) -> int:
        return HOUR_S // self.step_s

    @property
    def hours(self) -> int:
        """Whole hours; what comes after them is left out."""
        return int(self.pods.shape[1]) // self.per_hour

    def hourly(self) -> Numbers:
        """Pods by hours by steps of an hour."""
        whole = self.pods[:, : self.hours * self.per_hour]
        return whole.reshape(len(self.pods), self.hours, self.per_hour)

    def busiest(self) -> Numbers:
        """Hours by steps of an hour: what the busiest pod used; NaN where none was seen."""
        # fmax leaves NaN only where all are.
        return np.asarray(np.fmax.reduce(self.hourly(), axis=0), dtype=np.float64)
