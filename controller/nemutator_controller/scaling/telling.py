"""Writes into the status of each ForecastScaler what it foresees and what is in force; only when that changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.status_applying import apply_status
from nemutator_controller.scaling.objects import FORECAST_SCALERS, ForecastScalerObject
from nemutator_controller.scaling.records import ScalerKey, ScalerState
from nemutator_controller.scaling.statuses import due_status

CHECK_S = 5.0
MOST_AT_ONCE = 20
"""Statuses in one check: the others have to wait for the next."""


@dataclass(frozen=True, slots=True)
class ScalerStatuses:
    informer: Informer[ForecastScalerObject]
    writer: Writer
    states: Callable[[], Mapping[ScalerKey, ScalerState]]
    faulty: Callable[[], Mapping[ScalerKey, str]]
    opportunistic: Callable[[], Mapping[ScalerKey, int]]
    process: Process

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            await self.write()

    async def write(self) -> None:
        """Write what is out of date."""
        try:
            scalers = self.informer.snapshot().objects.values()
        except NotSyncedError:
            return
        states, faulty, opportunistic = self.states(), self.faulty(), self.opportunistic()
        left, now = MOST_AT_ONCE, self.process.clock.now()
        for one in scalers:
            meta = one.metadata
            key = meta.namespace, meta.name
            due = due_status(one, states.get(key), faulty.get(key), opportunistic.get(key), now=now)
            if due is None or not left:
                continue
            left -= 1
            await apply_status(
                self.writer,
                FORECAST_SCALERS,
                meta,
                msgspec.to_builtins(due),
                counted=names.SCALER_STATUSES,
                process=self.process,
            )
