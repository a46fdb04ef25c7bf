"""Publishes for how many replicas of each workload that takes part there is spare CPU; the base, while nobody knows."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.scaling.decisions import base_of
from nemutator_controller.scaling.model import SoundScaler
from nemutator_controller.scaling.ports import KnownScalers, SpareCpuOfCluster
from nemutator_controller.scaling.raising import MinimumRaising
from nemutator_controller.scaling.records import FoundAutoscaler, ScalerKey
from nemutator_controller.scaling.spare import SpareWish, opportunistic_replicas, spare_millis

EVERY_S = 15.0


@dataclass(slots=True)
class SpareSharing:
    scalers: KnownScalers
    raising: MinimumRaising
    spare: SpareCpuOfCluster
    process: Process
    _: KW_ONLY
    reserve_percent: float
    every_s: float = EVERY_S
    replicas: Mapping[ScalerKey, int] = field(default_factory=dict, init=False)
    """By ForecastScaler."""

    async def run(self) -> None:
        try:
            while True:
                await self.process.clock.sleep(self.every_s)
                await self.round()
        finally:
            # Another brain leads now: an old number of this one would be taken for one of today.
            self._withdraw(self.replicas)
            self.replicas = {}
            self.process.meter.gauge(names.SPARE_CPU, math.nan)

    async def round(self) -> None:
        shared = [one for one in self.scalers.sound() or () if one.spec.opportunistic is not None]
        found = await self._shared(shared) if shared else {}
        meter = self.process.meter
        # Of what is gone there is no number, and the last one would be taken for one.
        self._withdraw(self.replicas.keys() - found.keys())
        for key, replicas in found.items():
            meter.gauge(names.OPPORTUNISTIC_REPLICAS, replicas, namespace=key[0], scaler=key[1])
        self.replicas = found

    def _withdraw(self, gone: Iterable[ScalerKey]) -> None:
        for namespace, scaler in gone:
            self.process.meter.gauge(
                names.OPPORTUNISTIC_REPLICAS, math.nan, namespace=namespace, scaler=scaler
            )

    async def _shared(self, shared: Iterable[SoundScaler]) -> Mapping[ScalerKey, int]:
        wishes, bases = [], {}
        for one in shared:
            found = self.raising.found.get(one.target)
            state = self.raising.states.get(one.key)
            if found is None or state is None or state.reason == "another_scaler":
                continue
            bases[one.key] = base_of(one.spec, found)
            if found.request_millis:
                wishes.append(wish_of(one, found))
        spare = await self.spare.now()
        meter = self.process.meter
        if spare is None:
            meter.gauge(names.SPARE_CPU, math.nan)
            return bases
        millis = spare_millis(spare, wishes, reserve_percent=self.reserve_percent)
        meter.gauge(names.SPARE_CPU, millis / 1_000)
        return {**bases, **opportunistic_replicas(millis, wishes)}


def wish_of(scaler: SoundScaler, found: FoundAutoscaler) -> SpareWish:
    share = scaler.spec.opportunistic
    base = base_of(scaler.spec, found)
    most = min(found.maximum, scaler.spec.max_replicas or found.maximum)
    return SpareWish(
        key=scaler.key,
        base=base,
        most=max(base, most),
        request_millis=found.request_millis or 0,
        requested_millis=found.requested_millis,
        share_percent=100 if share is None else share.share_percent,
        priority=0 if share is None else share.priority,
    )
