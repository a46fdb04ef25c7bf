import json

import pytest
from nemutator_controller.sizing.sources.datadog_questions import (
    DatadogQuestion,
    requests,
    running,
    scope_of,
    site_url,
    usage,
)


def test_a_question_is_what_the_api_takes() -> None:
    question = DatadogQuestion(
        queries=("max:a{*} by {b}.rollup(avg, 300)", "max:c{*} by {b}.rollup(max, 300)"),
        begin=1_700_000_100.0,
        end=1_700_000_700.0,
        step_s=300,
    )
    assert json.loads(question.body()) == {
        "data": {
            "type": "timeseries_request",
            "attributes": {
                "formulas": [{"formula": "q0"}, {"formula": "q1"}],
                "from": 1_700_000_100_000,
                "to": 1_700_000_700_000,
                "interval": 300_000,
                "queries": [
                    {
                        "data_source": "metrics",
                        "name": "q0",
                        "query": "max:a{*} by {b}.rollup(avg, 300)",
                    },
                    {
                        "data_source": "metrics",
                        "name": "q1",
                        "query": "max:c{*} by {b}.rollup(max, 300)",
                    },
                ],
            },
        }
    }


def test_cpu_is_an_average_and_memory_a_peak() -> None:
    cores, memory = usage("*", step_s=300)
    assert cores == (
        "max:kubernetes.cpu.usage.total{*} by {kube_namespace,pod_name,kube_container_name}"
        ".rollup(avg, 300)"
    )
    assert memory == (
        "max:kubernetes.memory.working_set{*} by {kube_namespace,pod_name,kube_container_name,"
        "kube_ownerref_kind,kube_ownerref_name}.rollup(max, 300)"
    )
    assert len(requests("*", step_s=3_600)) == 2
    assert running("*", step_s=86_400) == (
        "sum:kubernetes.containers.running{*} by {kube_namespace}.rollup(max, 86400)",
    )


@pytest.mark.parametrize(
    ("cluster", "namespaces", "scope"),
    [
        ("", None, "*"),
        ("west", None, "kube_cluster_name:west"),
        ("", ["shop"], "kube_namespace IN (shop)"),
        ("west", ["b", "a"], "kube_cluster_name:west AND kube_namespace IN (a, b)"),
    ],
)
def test_only_that_cluster_and_those_namespaces_are_asked_for(
    cluster: str, namespaces: list[str] | None, scope: str
) -> None:
    assert scope_of(cluster, namespaces) == scope


@pytest.mark.parametrize("hostile", ["a,b", "a) OR b", "*", "", "A", "a}", "a b", "a" * 300])
def test_what_is_no_name_gets_into_no_question(hostile: str) -> None:
    with pytest.raises(ValueError, match="can have"):
        scope_of("", ["shop", hostile])
    if hostile:
        with pytest.raises(ValueError, match="can have"):
            scope_of(hostile, None)


def test_a_site_is_where_its_api_is() -> None:
    assert site_url("datadoghq.eu") == "https://api.datadoghq.eu"
    assert site_url("http://127.0.0.1:8080") == "http://127.0.0.1:8080"
