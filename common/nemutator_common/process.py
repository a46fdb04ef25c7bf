"""What every part of a process needs from it, as one value that is made once.

`real_process.py` makes the real one; `tests/fakes/process.py` has one for tests.
"""

from dataclasses import dataclass
from typing import Protocol

from nemutator_common.clocks import Clock
from nemutator_common.data_directory import DataDirectory
from nemutator_common.meters import ScrapedMeter
from nemutator_common.readiness import Readiness
from nemutator_common.supervising import Supervisor
from nemutator_common.traces import NO_TRACER, Tracer


class Dice(Protocol):
    def random(self) -> float:
        """At least 0 and less than 1: processes that failed together must not retry together."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    clock: Clock
    meter: ScrapedMeter
    dice: Dice
    readiness: Readiness
    supervisor: Supervisor
    directory: DataDirectory
    tracer: Tracer = NO_TRACER
