"""The machine's clock keeps the promises of the port."""

import time

from nemutator_common.clocks import Clock
from nemutator_common.system_clock import SystemClock


async def test_sleeping_passes_at_least_that_time_of_the_interval_clock() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0.01)
    assert clock.monotonic() - before >= 0.0099


def test_wall_time_is_that_of_the_machine() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()
