"""Metrics as a port: code that counts does not know who collects the numbers.

The real one is in `serving/metrics.py`; `tests/fakes/meters.py` has one that a test can read.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from nemutator_common.names import Metric

Counted = tuple[Metric, Mapping[str, str]]
"""A counter, and the labels of one series of it."""


class Meter(Protocol):
    """Every call gives all of the metric's labels; an undeclared label raises at once."""

    def count(self, metric: Metric, amount: float = 1, /, **labels: str) -> None: ...

    def gauge(self, metric: Metric, value: float, /, **labels: str) -> None: ...

    def observe(self, metric: Metric, value: float, /, **labels: str) -> None: ...

    def counter(self, metric: Metric, /, **labels: str) -> Callable[[], object]:
        """What counts one in this series, for those who count with each request."""
        ...

    def together(self, *counted: Counted) -> Callable[[], object]:
        """What counts one in each of these series, as often as it is among them."""
        ...

    def level(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        """The same for a gauge."""
        ...

    def observer(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        """The same for a histogram."""
        ...


class ScrapedMeter(Meter, Protocol):
    """A meter that can show what it counted."""

    @property
    def content_type(self) -> str: ...

    def exposition(self) -> bytes: ...
