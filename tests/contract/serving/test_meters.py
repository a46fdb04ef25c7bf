"""What every meter keeps, the real one and the fake."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common.meters import ScrapedMeter
from nemutator_common.names import Metric
from nemutator_common.serving.metrics import Metrics
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.exposition import generate_latest

from tests.fakes.meters import MemoryMeter

SEEN = Metric("nemutator_seen_total", "counter", "things seen", ("kind",))
LEVEL = Metric("nemutator_level", "gauge", "how high")
WAIT = Metric("nemutator_wait_seconds", "histogram", "how long", (), (0.1, 1.0))


@pytest.fixture(params=[Metrics, MemoryMeter])
def meter(request: pytest.FixtureRequest) -> ScrapedMeter:
    made: ScrapedMeter = request.param()
    return made


def test_what_was_counted_is_shown(meter: ScrapedMeter) -> None:
    meter.count(SEEN, kind="cat")
    meter.count(SEEN, 2, kind="cat")
    meter.gauge(LEVEL, 7)
    meter.gauge(LEVEL, 4)
    shown = meter.exposition().decode()
    assert re.search(r'^nemutator_seen_total(\{kind="cat"\})? 3\.0$', shown, re.MULTILINE)
    assert re.search(r"^nemutator_level 4(\.0)?$", shown, re.MULTILINE)


def test_what_is_counted_often_is_the_same_series(meter: ScrapedMeter) -> None:
    seen = meter.counter(SEEN, kind="cat")
    seen()
    meter.count(SEEN, kind="cat")
    seen()
    meter.observer(WAIT)(0.5)
    meter.level(LEVEL)(4)
    shown = meter.exposition().decode()
    assert re.search(r'^nemutator_seen_total(\{kind="cat"\})? 3\.0$', shown, re.MULTILINE)
    assert re.search(r"^nemutator_level 4(\.0)?$", shown, re.MULTILINE)
    with pytest.raises(ValueError, match="nemutator_seen_total"):
        meter.counter(SEEN, colour="red")
    with pytest.raises(TypeError):
        meter.together((LEVEL, {}))
    with pytest.raises(TypeError):
        meter.counter(LEVEL)
    with pytest.raises(TypeError):
        meter.observer(LEVEL)
    with pytest.raises(TypeError):
        meter.level(WAIT)


@pytest.mark.parametrize("others", [0, 1_001])
def test_what_is_counted_together_is_shown_in_each_of_its_series(
    meter: ScrapedMeter, others: int
) -> None:
    for number in range(others):
        meter.together(*[(SEEN, {"kind": "bird"})] * (number + 2))
    both = meter.together((SEEN, {"kind": "cat"}), (SEEN, {"kind": "dog"}), (SEEN, {"kind": "cat"}))
    both()
    meter.count(SEEN, kind="cat")
    both()
    shown = meter.exposition().decode()
    if isinstance(meter, MemoryMeter):
        assert (meter.value(SEEN, kind="cat"), meter.value(SEEN, kind="dog")) == (5, 2)
    else:
        assert 'nemutator_seen_total{kind="cat"} 5.0' in shown
        assert 'nemutator_seen_total{kind="dog"} 2.0' in shown


@pytest.mark.parametrize("labels", [{}, {"colour": "red"}, {"kind": "cat", "colour": "red"}])
def test_labels_are_those_declared(meter: ScrapedMeter, labels: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="nemutator_seen_total"):
        meter.count(SEEN, **labels)


def test_a_metric_keeps_to_its_kind(meter: ScrapedMeter) -> None:
    with pytest.raises(TypeError):
        meter.count(LEVEL)
    with pytest.raises(TypeError):
        meter.gauge(WAIT, 1)
    with pytest.raises(TypeError):
        meter.observe(SEEN, 1, kind="cat")


def test_counters_only_go_up(meter: ScrapedMeter) -> None:
    with pytest.raises(ValueError, match=r"(?i)count"):
        meter.count(SEEN, -1, kind="cat")


def test_observations_fall_into_the_declared_buckets() -> None:
    metrics = Metrics()
    metrics.observe(WAIT, 0.5)
    shown = metrics.exposition().decode()
    assert 'nemutator_wait_seconds_bucket{le="0.1"} 0.0' in shown
    assert 'nemutator_wait_seconds_bucket{le="1.0"} 1.0' in shown
    assert "nemutator_wait_seconds_created" not in shown


@given(st.lists(st.sampled_from((0.0, 0.1, 0.1000001, 1.0, 2.5)) | st.floats(0, 10), max_size=20))
@settings(max_examples=30)
def test_a_histogram_is_shown_as_the_client_library_shows_it(values: list[float]) -> None:
    shape = Metric("nemutator_wait_seconds", "histogram", "how long", ("of",), (0.1, 1.0))
    metrics, registry = Metrics(), CollectorRegistry()
    theirs = Histogram(
        shape.name, shape.meaning, shape.labels, buckets=(0.1, 1.0), registry=registry
    )
    for value in values:
        metrics.observe(shape, value, of="cats")
        theirs.labels(of="cats").observe(value)
    shown = metrics.exposition().decode()
    if values:
        assert generate_latest(registry).decode() in shown
    else:
        assert shape.name not in shown


def test_the_process_itself_is_measured_too() -> None:
    shown = Metrics().exposition().decode()
    for name in ("process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"):
        assert f"\n{name} " in shown
