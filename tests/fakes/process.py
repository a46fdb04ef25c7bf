"""A `Process` that waits for nobody and writes nowhere; a test replaces the parts that it watches."""

from dataclasses import dataclass
from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.data_directory import DataDirectory
from nemutator_common.meters import ScrapedMeter
from nemutator_common.process import Process
from nemutator_common.readiness import Readiness
from nemutator_common.supervising import Supervisor
from nemutator_common.traces import NO_TRACER, Tracer

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter

NOWHERE = DataDirectory(Path("/nonexistent/nemutator"))


@dataclass(frozen=True, slots=True)
class LoadedDice:
    """Dice that always show the same number."""

    roll: float

    def random(self) -> float:
        return self.roll


def fake_process(
    *,
    clock: Clock | None = None,
    meter: ScrapedMeter | None = None,
    roll: float = 0.5,
    readiness: Readiness | None = None,
    supervisor: Supervisor | None = None,
    directory: DataDirectory = NOWHERE,
    tracer: Tracer = NO_TRACER,
) -> Process:
    return Process(
        clock=clock or ManualClock(),
        meter=meter or MemoryMeter(),
        dice=LoadedDice(roll),
        readiness=readiness or Readiness(),
        supervisor=supervisor or Supervisor(),
        directory=directory,
        tracer=tracer,
    )
