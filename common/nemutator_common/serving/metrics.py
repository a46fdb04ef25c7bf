"""The metrics of this process, for Prometheus to scrape."""

import itertools
import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric as ShownMetric
from prometheus_client.registry import Collector as PrometheusCollector
from prometheus_client.utils import floatToGoString

from nemutator_common.meters import Counted
from nemutator_common.names import Metric

# They would be a second series for each counter, which nobody needs.
disable_created_metrics()  # type: ignore[no-untyped-call]


_MOST_TICKS = 32
"""As many at once take less time than the client library's one step."""

_MOST_TOGETHER = 1_000
"""So many counters, and groups of some that count together, may there be before further groups are counted one by one."""


class _Ticks:
    """Counts for some series until somebody looks: the client library takes ten times as long for each, and a
    counter of Python's own moves on in one step, whoever else counts."""

    def __init__(self, *series: Counter) -> None:
        self._series = series
        self._told = 0
        self._numbers = itertools.count()
        self.tick: Callable[[], object] = self._numbers.__next__

    def tell(self) -> None:
        counted = int(repr(self._numbers)[len("count(") : -1])
        for series in self._series:
            series.inc(counted - self._told)
        self._told = counted


class _Observations:
    """One series of a histogram. The client library takes four times as long for each value."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * len(bounds)
        self._sum = 0.0
        self._lock = threading.Lock()

    def observe(self, value: float) -> None:
        at = bisect_left(self._bounds, value)
        with self._lock:
            self._counts[at] += 1
            self._sum += value

    def shown(self) -> tuple[list[tuple[str, float]], float]:
        """By bound, as many as are not above it; and the sum of all."""
        with self._lock:
            counts, total = list(self._counts), self._sum
        names = map(floatToGoString, self._bounds)
        return list(zip(names, map(float, itertools.accumulate(counts)), strict=True)), total


class _Histogram(PrometheusCollector):
    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._bounds = (*map(float, metric.buckets), math.inf)
        self._series: dict[tuple[str, ...], _Observations] = {}
        if not metric.labels:
            self.labels()

    def labels(self, **labels: str) -> _Observations:
        key = tuple(labels[name] for name in self._metric.labels)
        return self._series.setdefault(key, _Observations(self._bounds))

    def collect(self) -> Iterable[ShownMetric]:
        metric = self._metric
        family = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
        for labels, series in tuple(self._series.items()):
            family.add_metric(labels, *series.shown())
        yield family


Series = MetricWrapperBase | _Observations
Collector = TypeVar("Collector", bound=Series)


class Metrics:
    """A `Meter` with its own registry, and with the usual `process_…` metrics besides ours.

    The client library checks the labels: all of a metric's labels must be given, and no others.
    """

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._collectors: dict[Metric, MetricWrapperBase | _Histogram] = {}
        self._children: dict[tuple[object, ...], Series] = {}
        self._ticks: dict[tuple[Counter, ...], _Ticks] = {}
        self._levels: dict[Gauge, float] = {}
        """Values that the client library has not heard of yet."""
        ProcessCollector(registry=self._registry)

    def count(self, metric: Metric, amount: float = 1, /, **labels: str) -> None:
        series = self._child(metric, Counter, labels)
        if type(amount) is int and 0 < amount <= _MOST_TICKS:
            tick = self._ticks_of((series,)).tick
            for _ in range(amount):
                tick()
        else:
            series.inc(amount)

    def gauge(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._levels[self._child(metric, Gauge, labels)] = value

    def observe(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._child(metric, _Observations, labels).observe(value)

    def counter(self, metric: Metric, /, **labels: str) -> Callable[[], object]:
        return self._ticks_of((self._child(metric, Counter, labels),)).tick

    def together(self, *counted: Counted) -> Callable[[], object]:
        found = [self._child(metric, Counter, dict(labels)) for metric, labels in counted]
        series = tuple(sorted(found, key=id))
        if series in self._ticks or len(self._ticks) < _MOST_TOGETHER:
            return self._ticks_of(series).tick
        ticks = [self._ticks_of((each,)).tick for each in series]

        def each_tick() -> None:
            for tick in ticks:
                tick()

        return each_tick

    def level(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        return partial(self._levels.__setitem__, self._child(metric, Gauge, labels))

    def observer(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        return self._child(metric, _Observations, labels).observe

    def exposition(self) -> bytes:
        for ticks in self._ticks.values():
            ticks.tell()
        for series, value in self._levels.items():
            series.set(value)
        return generate_latest(self._registry)

    def _ticks_of(self, series: tuple[Counter, ...]) -> _Ticks:
        return self._ticks.get(series) or self._ticks.setdefault(series, _Ticks(*series))

    def _child(self, metric: Metric, kind: type[Collector], labels: dict[str, str]) -> Collector:
        # The client library takes ten times as long to find an existing series.
        series: tuple[object, ...] = (metric.name, *labels.items())
        child = self._children.get(series)
        if child is None:
            child = self._children[series] = self._labelled(metric, labels)
        if not isinstance(child, kind):
            raise TypeError(f"{metric.name} is a {metric.kind}")
        return child

    def _labelled(self, metric: Metric, labels: dict[str, str]) -> Series:
        collector = self._collectors.get(metric)
        if collector is None:
            collector = self._collectors[metric] = self._made(metric)
        if tuple(sorted(labels)) != tuple(sorted(metric.labels)):
            raise ValueError(f"{metric.name} has the labels {metric.labels}, not {tuple(labels)}")
        if isinstance(collector, _Histogram):
            return collector.labels(**labels)
        return collector.labels(**labels) if labels else collector

    def _made(self, metric: Metric) -> MetricWrapperBase | _Histogram:
        match metric.kind:
            case "counter":
                return Counter(metric.name, metric.meaning, metric.labels, registry=self._registry)
            case "gauge":
                return Gauge(metric.name, metric.meaning, metric.labels, registry=self._registry)
            case "histogram":
                histogram = _Histogram(metric)
                self._registry.register(histogram)
                return histogram
