import re

import pytest
from nemutator_common import names
from nemutator_common.names import declared
from nemutator_common.names.metrics import Metric


@pytest.mark.parametrize("metric", declared(Metric), ids=lambda metric: metric.name)
def test_a_metric_keeps_to_the_conventions(metric: Metric) -> None:
    assert re.fullmatch(rf"{names.PREFIX}(_[a-z0-9]+)+", metric.name)
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert metric.meaning
    assert bool(metric.buckets) == (metric.kind == "histogram")
    assert list(metric.buckets) == sorted(set(metric.buckets))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) for label in metric.labels)
    assert len(set(metric.labels)) == len(metric.labels)


def test_metric_names_are_distinct() -> None:
    """The exposition format takes a counter's name without its end."""
    series = [metric.name.removesuffix("_total") for metric in declared(Metric)]
    assert sorted(series) == sorted(set(series))
