"""Tells scrapers what is advised, and what is requested beyond it: sums only, because containers are too many for
labels."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.all_advice import gather_advice
from nemutator_controller.sizing.documents import Advice, is_listed
from nemutator_controller.sizing.ports import GrowingMemory, Requests
from nemutator_controller.sizing.usages import Usages

MEASURED_S = 300.0

AT_ONCE = 1_000
"""Rows that are added up, and let go, in one turn of the loop: all of 20 000 would hold it up for a tenth of a second."""


@dataclass(frozen=True, slots=True)
class AdviceMeasuring:
    usages: Usages
    requests: Requests
    growing: GrowingMemory
    process: Process

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(MEASURED_S)
            await self.measure()

    async def measure(self) -> None:
        clock, meter = self.process.clock, self.process.meter
        found = await gather_advice(self.usages, self.requests, growing=self.growing, clock=clock)
        states, cpu, memory = Counter[str](), 0, 0
        while found.items:
            some = [one for one in found.items[-AT_ONCE:] if is_listed(one, now=clock.now())]
            del found.items[-AT_ONCE:]
            states.update(one.state for one in some)
            cpu += wasted_nanos(some, "cpu")
            memory += wasted_nanos(some, "memory")
            del some
            await clock.sleep(0)
        for state in ("firm", "provisional", "not_yet"):
            meter.gauge(names.RECOMMENDED_CONTAINERS, states[state], state=state)
        meter.gauge(names.WASTED_CORES, cpu / 10**9)
        meter.gauge(names.WASTED_BYTES, memory / 10**9)


def wasted_nanos(advice: Iterable[Advice], resource: str) -> int:
    """What pods request beyond firm advice; what they lack is not set off against it."""
    total = 0
    for one in advice:
        now, wanted = getattr(one.requests_now, resource), getattr(one.requests, resource)
        if one.state == "firm" and now is not None and wanted is not None:
            beyond = parse_quantity(now).nanos - parse_quantity(wanted).nanos
            total += max(0, beyond) * one.pods
    return total
