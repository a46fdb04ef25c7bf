"""The vocabulary: every name once, well-formed, with a meaning."""

import re
from collections import Counter

import pytest
from nemutator_common import names
from nemutator_common.names import Key, Metric, declared


def test_log_keys_are_distinct_snake_case_words_with_a_meaning() -> None:
    keys = declared(Key)
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", key) and key.meaning for key in keys)


def test_no_log_key_hides_a_fixed_part_of_the_line() -> None:
    assert {"time", "level", "event", "logger", "traceback"}.isdisjoint(declared(Key))


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
    assert len({metric.name for metric in declared(Metric)}) == len(declared(Metric))


def test_a_key_is_its_own_name_in_a_line() -> None:
    key = Key("node", "which node")
    assert (key, key.meaning) == ("node", "which node")
    assert {key: 1} == {"node": 1}


def test_no_role_begins_like_another() -> None:
    """Each role owns the environment variables that begin with its name."""
    parts = [f"{role}_" for role in names.ROLES]
    assert not any(a != b and a.startswith(b) for a in parts for b in parts)
