"""Lives of the brain, as far as it rolls workloads."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from nemutator_controller.rolling.records import Roll
from nemutator_controller.rolling.rolling import CHECK_S, SlowRolls

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.rolls import MemoryOffPeaks, MemoryRolls, MemoryWorkloads

MIDNIGHT = 20_000 * 86_400.0


class Life:
    """One life of the brain, over a cluster and a store that outlive it."""

    def __init__(
        self,
        workloads: MemoryWorkloads | None = None,
        store: MemoryRolls | None = None,
        clock: ManualClock | None = None,
    ) -> None:
        self.workloads, self.store = workloads or MemoryWorkloads(), store or MemoryRolls()
        self.clock, self.meter = clock or ManualClock(MIDNIGHT), MemoryMeter()
        process = fake_process(clock=self.clock, meter=self.meter)
        self.off_peaks = MemoryOffPeaks()
        self.rolls = SlowRolls(self.workloads, self.store, process, self.off_peaks)

    @contextlib.asynccontextmanager
    async def running(self, *rolls: Roll) -> AsyncIterator[None]:
        await self.rolls.restore()
        for each in rolls:
            await self.rolls.add(each)
        async with in_background(self.rolls.run(), self.clock):
            yield

    async def check(self, seconds: float = CHECK_S) -> None:
        for _ in range(max(1, int(seconds / CHECK_S))):
            await self.clock.advance(CHECK_S)
            await self.clock.until_sleeping(1)

    @property
    def strategy(self) -> Any:
        return self.workloads.spec["strategy"]

    @property
    def state(self) -> tuple[str, str]:
        return self.store.kept["r1"].state, self.store.kept["r1"].why
