"""A machine's use over time: one point for each report, thinned when a question spans many."""

from dataclasses import dataclass

from nemutator_common.wire import Envelope


@dataclass(frozen=True, slots=True)
class Point:
    """What a machine used at one moment; None where its agent did not know."""

    at: float
    cpu_cores: float | None
    memory_used_bytes: int
    cpu_pressure_10s: float | None


@dataclass(frozen=True, slots=True)
class MachineSeries:
    """The answer of /api/v1/history, oldest point first."""

    node: str
    step_s: float | None
    """Seconds that each point stands for, as their mean; None: the points are as reported."""
    points: tuple[Point, ...]


def point_of(envelope: Envelope) -> Point:
    machine = envelope.report.machine
    cpu = machine.pressures.cpu
    return Point(
        at=envelope.report.taken_at,
        cpu_cores=machine.cpu_cores,
        memory_used_bytes=machine.memory_used_bytes,
        cpu_pressure_10s=cpu.some_10s if cpu else None,
    )


def thinning_step_s(*, points: int, span_s: float, most: int) -> float | None:
    """The step of means of which there are at most *most*; None when there is no need to thin."""
    # One less: a span that does not begin on a step touches one step more than fit into it.
    return None if points <= most else span_s / (most - 1)
