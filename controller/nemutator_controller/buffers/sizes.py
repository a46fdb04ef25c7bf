"""How many pods keep room free: pure.

A forecast counts by what it says of the time within the lead: what a node that is ordered now is there for. So the
buffer grows before a peak, and in the peak it is as large as the rest of the rise.
"""

import math
from collections.abc import Sequence

from nemutator_controller.buffers.model import BufferSize, ExpectedRise, WantedBuffer

NOBODY = "no SeasonPolicy that is in force names a buffer"
UNTOLD = "what the cluster will use cannot be told: the buffer stays as it is"
UNREQUESTED = "its pods request no CPU, so that no number of them is as much as the forecast"

ROUNDING = 1e-6
"""Of a pod: what arithmetic adds is no further one."""


def buffer_size(
    wanted: WantedBuffer | None, rise: ExpectedRise | None, *, pod_cores: float, most: int
) -> BufferSize:
    """*rise*: None where nobody knows; *pod_cores*: what one pod requests."""
    if wanted is None:
        return BufferSize(pods=0, why=NOBODY)
    by = f"SeasonPolicy {wanted.policy}"
    if wanted.pods is not None:
        return _capped(wanted.pods, f"{by} wants {_pods(wanted.pods)}", most)
    if rise is None:
        return BufferSize(pods=None, why=UNTOLD)
    if pod_cores <= 0:
        return BufferSize(pods=None, why=UNREQUESTED)
    share = wanted.forecast_percent or 0
    pods = max(0, math.ceil(rise.cores * share / 100 / pod_cores - ROUNDING))
    why = (
        f"within {_minutes(rise.within_s)} the cluster is expected to use {rise.cores:.2f} cores more than now: "
        f"{by} wants {share} % of that, which is {_pods(pods)} of {pod_cores:g} cores"
    )
    return _capped(pods, why, most)


def expected_rise(
    expected: Sequence[float], upper: Sequence[float], used: float, *, slot: int, ahead: int
) -> float:
    """Cores, from now in *slot* to *ahead* slots later, at most by the forecast's interval: too much room is safer
    than too little."""
    slots = len(expected)
    coming = ((slot + step) % slots for step in range(ahead + 1))
    highest = max(upper[one] if math.isfinite(upper[one]) else expected[one] for one in coming)
    return max(0.0, highest - used)


def _capped(pods: int, why: str, most: int) -> BufferSize:
    if pods <= most:
        return BufferSize(pods=pods, why=why)
    return BufferSize(pods=most, why=f"{why}; brain.buffer_pods allows {most}")


def _pods(count: int) -> str:
    return f"{count} pod" if count == 1 else f"{count} pods"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
