"""Counts how long the event loop of a process was held up, while everybody else waited."""

from nemutator_common import names
from nemutator_common.process import Process

EVERY_S = 0.05
"""A hold that begins between two wakes is seen shorter by what was left until the next. A wake takes a tenth of a millisecond
of CPU time where the process has nothing else to do."""


async def watch_loop(process: Process) -> None:
    held = process.meter.observer(names.LOOP_HELD)
    while True:
        due = process.clock.monotonic() + EVERY_S
        await process.clock.sleep(EVERY_S)
        held(max(0.0, process.clock.monotonic() - due))
