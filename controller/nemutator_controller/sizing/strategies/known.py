"""All strategies by name, each with the one number by which it asks for more or less."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.sizing.strategies import (
    cheapest_peak,
    given,
    hourly_cpu,
    hourly_given,
    krr,
    seed,
    vpa,
)
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

Resource = Literal["cpu", "memory"]


@dataclass(frozen=True, slots=True)
class SizingStrategy:
    request: Callable[[RecordedUse, float], Numbers]
    """What to request in each hour, from what was used before it and the strategy's number; NaN where it
    does not say."""
    number: float
    """Its own."""
    numbers: tuple[float, ...]
    """From those that ask for little to those that ask for much."""
    together: Callable[[Sequence[RecordedUse], float], list[Numbers]] | None = None
    """The same as `request` of each of several containers, where that is faster."""

    def request_all(self, uses: Sequence[RecordedUse], number: float) -> list[Numbers]:
        if self.together is not None:
            return self.together(uses, number)
        return [self.request(use, number) for use in uses]


GIVEN = "nemutator-policy"
"""What `nemutator advise` gives, as a SizingPolicy follows it."""
HOURLY_GIVEN = "nemutator-hourly-policy"
"""The same, where the policy follows CPU hourly; memory follows advice there, too."""

_PERCENTS = (0.0, 5.0, 10.0, 14.0, 18.0, 25.0, 40.0, 60.0, 100.0, 200.0, 400.0)
_BUFFERS = (1.0, 1.05, 1.1, 1.15, 1.25, 1.4, 1.6, 2.0, 3.0, 5.0)
_MARGINS = (
    0.5, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 3.0, 5.0,
)  # fmt: skip
_PERCENTILES = (50.0, 66.0, 80.0, 90.0, 95.0, 97.0, 98.0, 99.0, 99.3, 99.5, 99.6, 99.7, 99.9, 100.0)
_SHARES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 0.999999, 1.0)
_PRICES = (
    2.0, 5.0, 8.0, 14.0, 18.0, 22.0, 26.0, 30.0, 34.0, 38.0, 44.0, 52.0, 70.0, 120.0, 250.0, 600.0,
)  # fmt: skip

_TIMES = (
    0.5, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.25, 1.3,
    1.4, 1.5, 1.65, 1.8, 2.0, 2.2, 2.5, 3.0, 4.0, 6.0,
)  # fmt: skip

STRATEGIES: Mapping[str, Mapping[Resource, SizingStrategy]] = {
    "nemutator": {
        "cpu": SizingStrategy(hourly_cpu.cpu, hourly_cpu.PRICE, _PRICES, hourly_cpu.cpu_of_all),
        "memory": SizingStrategy(
            cheapest_peak.memory,
            cheapest_peak.TIMES,
            _TIMES,
        ),
    },
    GIVEN: {
        "cpu": SizingStrategy(given.cpu, given.PERCENTILE, _PERCENTILES),
        "memory": SizingStrategy(given.memory, given.BUFFER, _PERCENTS),
    },
    HOURLY_GIVEN: {
        "cpu": SizingStrategy(hourly_given.cpu, hourly_cpu.PRICE, _PRICES, hourly_given.cpu_of_all),
        "memory": SizingStrategy(given.memory, given.BUFFER, _PERCENTS),
    },
    "vpa": {
        "cpu": SizingStrategy(vpa.cpu, vpa.PERCENTILE, _SHARES),
        # By its margin, as KRR's by its buffer: with no percentile of so few peaks does it reach the days of
        # kills at which strategies are compared.
        "memory": SizingStrategy(vpa.memory, vpa.MARGIN, _MARGINS),
    },
    "krr": {
        "cpu": SizingStrategy(krr.cpu, krr.PERCENTILE, _PERCENTILES),
        "memory": SizingStrategy(krr.memory, krr.MEMORY_BUFFER, _BUFFERS),
    },
    "krr-limit": {
        "cpu": SizingStrategy(krr.cpu, krr.LIMITED_PERCENTILE, _PERCENTILES),
        "memory": SizingStrategy(krr.memory, krr.MEMORY_BUFFER, _BUFFERS),
    },
    "seed": {
        "cpu": SizingStrategy(seed.request, seed.REQUEST_TIMES, (0.5, *_BUFFERS, 10.0, 30.0)),
        "memory": SizingStrategy(seed.limit, seed.LIMIT_TIMES, _BUFFERS),
    },
}
