"""The metrics of this process, for Prometheus to scrape."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics import MetricWrapperBase

from nemutator_common.names import Metric

# They would be a second series for each counter, which nobody needs.
disable_created_metrics()  # type: ignore[no-untyped-call]

Collector = TypeVar("Collector", bound=MetricWrapperBase)


_MOST_TICKS = 32
"""As many at once take less time than the client library's one step."""


class _Ticks:
    """Counts for a series until somebody looks: the client library takes ten times as long for each, and a
    counter of Python's own moves on in one step, whoever else counts."""

    def __init__(self, series: Counter) -> None:
        self._series = series
        self._told = 0
        self._numbers = itertools.count()
        self.tick: Callable[[], object] = self._numbers.__next__

    def tell(self) -> None:
        counted = int(repr(self._numbers)[len("count(") : -1])
        self._series.inc(counted - self._told)
        self._told = counted


class Metrics:
    """A `Meter` with its own registry, and with the usual `process_…` metrics besides ours.

    The client library checks the labels: all of a metric's labels must be given, and no others.
    """

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._collectors: dict[Metric, MetricWrapperBase] = {}
        self._children: dict[tuple[object, ...], MetricWrapperBase] = {}
        self._ticks: dict[Counter, _Ticks] = {}
        self._levels: dict[Gauge, float] = {}
        """Values that the client library has not heard of yet."""
        ProcessCollector(registry=self._registry)

    def count(self, metric: Metric, amount: float = 1, /, **labels: str) -> None:
        series = self._child(metric, Counter, labels)
        if type(amount) is int and 0 < amount <= _MOST_TICKS:
            tick = self._ticks_of(series).tick
            for _ in range(amount):
                tick()
        else:
            series.inc(amount)

    def gauge(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._levels[self._child(metric, Gauge, labels)] = value

    def observe(self, metric: Metric, value: float, /, **labels: str) -> None:
        self._child(metric, Histogram, labels).observe(value)

    def counter(self, metric: Metric, /, **labels: str) -> Callable[[], object]:
        return self._ticks_of(self._child(metric, Counter, labels)).tick

    def level(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        return partial(self._levels.__setitem__, self._child(metric, Gauge, labels))

    def observer(self, metric: Metric, /, **labels: str) -> Callable[[float], None]:
        return self._child(metric, Histogram, labels).observe

    def exposition(self) -> bytes:
        for ticks in self._ticks.values():
            ticks.tell()
        for series, value in self._levels.items():
            series.set(value)
        return generate_latest(self._registry)

    def _ticks_of(self, series: Counter) -> _Ticks:
        return self._ticks.get(series) or self._ticks.setdefault(series, _Ticks(series))

    def _child(self, metric: Metric, kind: type[Collector], labels: dict[str, str]) -> Collector:
        # The client library takes ten times as long to find an existing series.
        series: tuple[object, ...] = (metric.name, *labels.items())
        child = self._children.get(series)
        if child is None:
            child = self._children[series] = self._labelled(metric, labels)
        if not isinstance(child, kind):
            raise TypeError(f"{metric.name} is a {metric.kind}")
        return child

    def _labelled(self, metric: Metric, labels: dict[str, str]) -> MetricWrapperBase:
        collector = self._collectors.get(metric)
        if collector is None:
            collector = self._collectors[metric] = self._made(metric)
        if tuple(sorted(labels)) != tuple(sorted(metric.labels)):
            raise ValueError(f"{metric.name} has the labels {metric.labels}, not {tuple(labels)}")
        return collector.labels(**labels) if labels else collector

    def _made(self, metric: Metric) -> MetricWrapperBase:
        match metric.kind:
            case "counter":
                return Counter(metric.name, metric.meaning, metric.labels, registry=self._registry)
            case "gauge":
                return Gauge(metric.name, metric.meaning, metric.labels, registry=self._registry)
            case "histogram":
                return Histogram(
                    metric.name,
                    metric.meaning,
                    metric.labels,
                    buckets=metric.buckets,
                    registry=self._registry,
                )
