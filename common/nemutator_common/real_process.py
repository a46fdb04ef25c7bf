"""The `Process` of a running program."""

import random
from pathlib import Path

from nemutator_common import logs
from nemutator_common.data_directory_files import prepare
from nemutator_common.process import Process
from nemutator_common.readiness import Readiness
from nemutator_common.serving.metrics import Metrics
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock


def real_process(data_dir: Path) -> Process:
    """Makes its directory when that is missing; raises `OperatorError` when it cannot be used."""
    meter = Metrics()
    logs.count_dropped(meter)
    return Process(
        clock=SystemClock(),
        meter=meter,
        dice=random.SystemRandom(),
        readiness=Readiness(),
        supervisor=Supervisor(),
        directory=prepare(data_dir),
    )
