"""What the busiest pod of containers used hour by hour, from whoever has recorded it. A `RecordedHours`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.hourly.points import PER_HOUR, STEP_S
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.ports import PodKeys, UsageSource
from nemutator_controller.sizing.strategies.recorded_use import HOUR_S


@dataclass(frozen=True, slots=True)
class HoursReading:
    source: UsageSource
    """In steps of five minutes, as hours are kept."""
    keys: PodKeys

    @property
    def dropped(self) -> Mapping[str, int]:
        return self.source.dropped

    async def hours(
        self, keys: Collection[ContainerKey], *, begin: int, end: int
    ) -> Mapping[ContainerKey, Numbers]:
        wanted, count = frozenset(keys), (end - begin) * PER_HOUR
        found: dict[ContainerKey, Numbers] = {}
        async for steps in self.source.steps(
            begin=begin * HOUR_S,
            end=end * HOUR_S,
            namespaces={key.namespace for key in wanted},
        ):
            first = round((steps.begin - begin * HOUR_S) / STEP_S)
            until = min(count, first + steps.count)
            for of, cores in steps.cores.items():
                key = self.keys.of(of.namespace, of.pod, of.container)
                if key is None or key not in wanted:
                    continue
                row = found.setdefault(key, np.full(count, np.nan))[first:until]
                np.fmax(row, cores[: until - first], out=row)
        return {key: row.reshape(-1, PER_HOUR) for key, row in found.items()}
