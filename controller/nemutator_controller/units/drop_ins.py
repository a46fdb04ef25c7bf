"""The drop-in of a unit: what is written into it, from amounts as Kubernetes has them."""

import math

FILE = "50-nemutator.conf"
"""Behind what a distribution ships, and before what people number higher: theirs wins."""

USUAL_WEIGHT = 100
"""Of every unit for which nobody says another one."""

_LEAST_SHARES, _MOST_SHARES = 2, 262_144


def cpu_weight(millis: int) -> int:
    """The CPUWeight of a request of *millis*: a core is 100, which is what a unit has without any.

    As runc and crun convert shares of CPU (opencontainers/cgroups, 2025): a curve through the least, one core's
    and the largest number of both scales.
    """
    shares = min(max(millis * 1024 // 1000, _LEAST_SHARES), _MOST_SHARES)
    exponent = math.log2(shares)
    weight = 10 ** ((exponent * exponent + 125 * exponent) / 612 - 7 / 34)
    # A binary fraction's last digits must not cost a whole unit.
    return math.ceil(round(weight, 6))


def drop_in(*, weight: int | None, memory_high: int | None) -> str:
    """The content of the file. It says nothing that changes without the amounts, so that equal ones are seen."""
    lines = [
        "# Written by `nemutator size`. `nemutator mutations` has the reasons, `nemutator rollback` takes it back.",
        "[Service]",
    ]
    if weight is not None:
        lines.append(f"CPUWeight={weight}")
    if memory_high is not None:
        lines.append(f"MemoryHigh={memory_high}")
    return "\n".join(lines) + "\n"
