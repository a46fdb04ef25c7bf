"""The `Process` of a running program."""

import random

from nemutator_common import logs
from nemutator_common.data_directory_files import prepare
from nemutator_common.process import Process
from nemutator_common.readiness import Readiness
from nemutator_common.serving.metrics import Metrics
from nemutator_common.settings import Shared
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_common.traces import NO_TRACER, Tracer


def real_process(settings: Shared) -> Process:
    """Makes its directory when that is missing; raises `OperatorError` when it cannot be used."""
    meter = Metrics()
    logs.count_dropped(meter)
    supervisor = Supervisor()
    tracer: Tracer = NO_TRACER
    if settings.traces:
        # Imported where somebody collects: it takes 100 ms, and most installations do not have it.
        from nemutator_common.serving.otlp_traces import OtlpTracer

        tracer = collecting = OtlpTracer(settings.traces, role=settings.role, meter=meter)
        supervisor.add("send traces", collecting.run)
    return Process(
        clock=SystemClock(),
        meter=meter,
        dice=random.SystemRandom(),
        readiness=Readiness(),
        supervisor=supervisor,
        directory=prepare(settings.data_dir),
        tracer=tracer,
    )
