import asyncio

import pytest
from nemutator_common import names
from nemutator_controller.loop_watching import EVERY_S, watch_loop

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


class HeldLoop(ManualClock):
    """Its loop is held up by so much at each sleep, and then it ends."""

    def __init__(self, *held_s: float) -> None:
        super().__init__()
        self._held_s = list(held_s)

    async def sleep(self, seconds: float) -> None:
        if not self._held_s:
            raise asyncio.CancelledError
        await self.advance(seconds + self._held_s.pop(0))


async def test_each_hold_is_observed_and_no_hold_is_zero() -> None:
    process = fake_process(clock=HeldLoop(0.0, 0.4, 0.0, -EVERY_S / 2))
    with pytest.raises(asyncio.CancelledError):
        await watch_loop(process)
    assert isinstance(process.meter, MemoryMeter)
    assert process.meter.observed(names.LOOP_HELD) == pytest.approx([0.0, 0.4, 0.0, 0.0])
