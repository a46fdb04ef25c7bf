"""Notes on how far a profile can be trusted, from its numbers."""

import math

from nemutator_agent.profiler.bpf_maps import DEEPEST
from nemutator_agent.profiler.raw import RawProfile

_AGREES = 0.15
"""The share of CPU time by which samples and accounts may differ before people are told."""

_DEVIATIONS = 3.0
_STEP_S = 0.02
"""The account of a process is read twice, in steps of 10 ms."""


def remarks(raw: RawProfile, *, truncated: int) -> tuple[str, ...]:
    found = []
    if truncated:
        found.append(
            f"{truncated} samples are deeper than {DEEPEST} frames: their roots are cut off"
        )
    if raw.cpu_seconds is None:
        if not raw.recorded:
            found.append("no sample")
        found.append("the target's own CPU time could not be read: it may have ended")
    elif _agrees(raw, raw.cpu_seconds):
        if not raw.recorded:
            found.append(
                "no sample: by the kernel's accounts the target used "
                f"{_shown(raw.cpu_seconds)} of CPU time"
            )
    elif raw.sampled_cpu_seconds:
        found.append(
            f"samples say {_shown(raw.sampled_cpu_seconds)} of CPU time, "
            f"the kernel's accounts {_shown(raw.cpu_seconds)}"
        )
    else:
        found.append(
            f"no sample, but {_shown(raw.cpu_seconds)} of CPU time in the kernel's accounts: this "
            "kernel keeps the target from being sampled (perf record would be empty, too)"
        )
    return tuple(found)


def off_cpu_remarks(raw: RawProfile, *, truncated: int, untimed: int) -> tuple[str, ...]:
    """The same of samples that are nanoseconds off the CPU, which nothing else accounts for."""
    found = []
    if truncated:
        found.append(
            f"{_shown(truncated / raw.hz)} are of stacks deeper than {DEEPEST} frames: their roots are"
            " cut off"
        )
    found += [
        f"{_shown(time / raw.hz)} are lost: {reason.replace('_', ' ')}"
        for reason, time in raw.lost.items()
    ]
    if untimed:
        found.append(f"{untimed} waits were not timed: too many threads were blocked at once")
    if not raw.recorded:
        found.append(
            "no thread was blocked that had run before: what waits all the time is not seen"
        )
    return tuple(found)


def _agrees(raw: RawProfile, cpu_seconds: float) -> bool:
    """Whether samples and account differ by no more than chance has them differ."""
    chance = (_DEVIATIONS * math.sqrt(cpu_seconds * raw.hz) + 1) / raw.hz + _STEP_S
    return abs(raw.sampled_cpu_seconds - cpu_seconds) <= max(_AGREES * cpu_seconds, chance)


def _shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"
