import re

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.sources.queries import (
    CPU_RULE,
    MEMORY_RULE,
    Shard,
    counted,
    recording_rules,
    requests,
    seed_expressions,
    shards,
    usage_expressions,
)

WORDS = st.dictionaries(st.text("abc-", min_size=1, max_size=6), st.integers(1, 50), max_size=30)


def test_all_pods_are_one_question() -> None:
    asked = usage_expressions(None, recorded=False)
    assert asked.cores == (
        "max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total"
        '{container!="",container!="POD"}[300s]))'
    )
    assert "max_over_time(container_memory_working_set_bytes{" in asked.memory


def test_rules_are_asked_where_they_have_recorded() -> None:
    assert CPU_RULE in usage_expressions(None, recorded=True).cores
    assert any(CPU_RULE in one for one in counted(recorded=True))
    rules = {rule["record"]: rule["expr"] for rule in recording_rules()["groups"][0]["rules"]}
    assert rules == {
        CPU_RULE: usage_expressions(None, recorded=False).cores,
        MEMORY_RULE: usage_expressions(None, recorded=False).memory,
    }


def test_the_first_nemutators_question_is_written_as_it_was() -> None:
    asked = seed_expressions(("shop",), span_s=86_400, step_s=60)
    assert "max_over_time(rate(container_cpu_usage_seconds_total{" in asked.cpu_max
    assert asked.cpu_max.endswith('namespace=~"shop"}[60s])[86400s:60s]))')
    assert asked.memory_min.startswith("max by (namespace, pod, container) (min_over_time(")


def test_names_are_no_patterns() -> None:
    asked = usage_expressions(("a.b", 'c"}'), recorded=False).cores
    assert 'namespace=~"a\\\\.b|c\\\\\\"\\\\}"' in asked


def test_requests_are_of_two_resources() -> None:
    assert re.search(r"resource=~.cpu\|memory", requests())


def test_few_series_are_asked_for_at_once() -> None:
    assert shards({"a": 3, "b": 4}, most=7) == [Shard(None, 7)]
    assert shards({}, most=7) == []
    assert shards({"a": 3, "b": 4, "c": 9}, most=7) == [Shard(("a", "b"), 7), Shard(("c",), 9)]


@given(WORDS, st.integers(1, 100))
def test_each_namespace_is_asked_for_once(series: dict[str, int], most: int) -> None:
    found = shards(series, most=most)
    if any(one.namespaces is None for one in found):
        assert len(found) == 1
        assert sum(series.values()) <= most
        return
    names = [name for one in found for name in one.namespaces or ()]
    assert sorted(names) == sorted(series)
    for one in found:
        assert one.series == sum(series[name] for name in one.namespaces or ())
        assert one.series <= most or len(one.namespaces or ()) == 1
