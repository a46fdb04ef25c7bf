"""What containers used in steps of one length, as somebody else has recorded it.

Others are believed only as far as it can be true: what lies off the grid, is negative or is more than a machine
has is left out and counted. A counter that began anew is the business of who makes rates of it.
"""

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nemutator_controller.prometheus_answers import DUPLICATE, PrometheusSeries
from nemutator_controller.prometheus_steps import by_steps
from nemutator_controller.sizing.buckets import CPU, MEMORY, Numbers

NAMELESS = "nameless"
"""A reason for which samples are left out: the series does not say whose it is."""

LONGEST_NAME = 253


class SourceUnavailableError(Exception):
    """It does not say what was used now; why, for people. Nothing in it is secret."""


@dataclass(frozen=True, slots=True, order=True)
class PodContainer:
    namespace: str
    pod: str
    container: str


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSteps:
    begin: float
    """Where the first step begins."""
    step_s: float
    count: int
    cores: Mapping[PodContainer, Numbers]
    """Of each step the average; NaN where that is not known."""
    memory: Mapping[PodContainer, Numbers]
    """Of each step the most, in bytes."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    """What the source says of its own answer, such as that a part is missing."""


@dataclass(frozen=True, slots=True)
class StepGrid:
    begin: float
    step_s: float
    count: int

    @property
    def first(self) -> float:
        """The end of the first step: there a query over a range begins."""
        return self.begin + self.step_s

    @property
    def end(self) -> float:
        return self.begin + self.count * self.step_s


def recorded_steps(
    cores: Iterable[PrometheusSeries], memory: Iterable[PrometheusSeries], grid: StepGrid
) -> RecordedSteps:
    dropped: dict[str, int] = {}
    return RecordedSteps(
        begin=grid.begin,
        step_s=grid.step_s,
        count=grid.count,
        cores=_on_grid(cores, grid, CPU.largest, dropped),
        memory=_on_grid(memory, grid, MEMORY.largest, dropped),
        dropped=dropped,
    )


def container_of(labels: Mapping[str, str]) -> PodContainer | None:
    names = tuple(labels.get(label, "") for label in ("namespace", "pod", "container"))
    if not all(names) or max(map(len, names)) > LONGEST_NAME:
        return None
    return PodContainer(*names)


def _on_grid(
    found: Iterable[PrometheusSeries],
    grid: StepGrid,
    most: float,
    dropped: MutableMapping[str, int],
) -> Mapping[PodContainer, Numbers]:
    rows: dict[PodContainer, Numbers] = {}
    for series in found:
        of = container_of(series.labels)
        if of is None or of in rows:
            _count(dropped, NAMELESS if of is None else DUPLICATE, len(series.at))
            continue
        row = by_steps(
            series,
            begin=grid.begin,
            step_s=grid.step_s,
            steps=grid.count,
            most=most,
            dropped=dropped,
        )
        if not np.isnan(row).all():
            rows[of] = row
    return rows


def _count(dropped: MutableMapping[str, int], reason: str, number: int) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number
