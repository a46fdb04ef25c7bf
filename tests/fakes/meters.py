"""A meter whose numbers a test reads."""

from collections import defaultdict
from collections.abc import Callable

from nemutator_common.meters import Counted
from nemutator_common.names import Metric

Series = tuple[Metric, frozenset[tuple[str, str]]]


class MemoryMeter:
    """As strict as the real one: every declared label, no other, and each metric its own kind."""

    content_type = "text/plain"

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._values: dict[Series, float] = defaultdict(float)
        self._observed: dict[Series, list[float]] = defaultdict(list)

    def count(self, metric: Metric, amount: float = 1, /, **labels: str) -> None:
        if amount < 0:
            raise ValueError(f"{metric.name}: a counter only counts up")
        self._values[_series(metric, "counter", labels)] += amount
        self._changed()

    def gauge(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._values[_series(metric, "gauge", labels)] = value
        self._changed()

    def observe(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._observed[_series(metric, "histogram", labels)].append(value)
        self._changed()

    def counter(self, metric: Metric, /, **labels: str) -> Callable[[], None]:
        _series(metric, "counter", labels)
        return lambda: self.count(metric, **labels)

    def together(self, *counted: Counted) -> Callable[[], None]:
        each = [self.counter(metric, **labels) for metric, labels in counted]

        def count() -> None:
            for one in each:
                one()

        return count

    def level(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        _series(metric, "gauge", labels)
        return lambda value: self.gauge(metric, value, **labels)

    def observer(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        _series(metric, "histogram", labels)
        return lambda value: self.observe(metric, value, **labels)

    def exposition(self) -> bytes:
        lines = (f"{metric.name} {value}\n" for (metric, _), value in self._values.items())
        return "".join(lines).encode()

    def value(self, metric: Metric, /, **labels: str) -> float:
        """Of a counter or a gauge; 0 when nobody touched it."""
        return self._values.get(_series(metric, metric.kind, labels), 0.0)

    def observed(self, metric: Metric, /, **labels: str) -> tuple[float, ...]:
        return tuple(self._observed.get(_series(metric, "histogram", labels), ()))

    def total(self, metric: Metric, /, **some: str) -> float:
        """Of all series that have *some* labels."""
        return sum(
            value
            for (which, labels), value in self._values.items()
            if which == metric and some.items() <= dict(labels).items()
        )


def _series(metric: Metric, kind: str, labels: dict[str, str]) -> Series:
    if metric.kind != kind:
        raise TypeError(f"{metric.name} is a {metric.kind}, not a {kind}")
    if set(labels) != set(metric.labels):
        raise ValueError(f"{metric.name} has the labels {metric.labels}, not {tuple(labels)}")
    return metric, frozenset(labels.items())
