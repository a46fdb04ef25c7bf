import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.placement.pods import (
    MOST_NODES,
    InvalidPlacementError,
    extender_question,
    pod_question,
)

POD = {
    "metadata": {
        "name": "web-5d4f-x2",
        "namespace": "shop",
        "labels": {"pod-template-hash": "5d4f"},
        "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d4f", "controller": True}],
    },
    "spec": {
        "containers": [
            {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}},
            {"resources": {"requests": {"cpu": 1}}},
        ],
        "initContainers": [
            {"resources": {"requests": {"cpu": "3"}}},
            {"resources": {"requests": {"cpu": "100m"}}, "restartPolicy": "Always"},
        ],
        "overhead": {"cpu": "10m"},
    },
}


def test_a_pod_is_what_it_requests_and_whose_it_is() -> None:
    found = pod_question(json.dumps(POD).encode())
    assert found.workload == ("shop", "Deployment", "web")
    assert found.cpu_cores == pytest.approx(3.01)
    assert found.memory_bytes == 1 << 30


def test_a_scheduler_names_nodes_or_sends_them_whole() -> None:
    named = {"Pod": POD, "Nodes": None, "NodeNames": ["a", "b"]}
    assert extender_question(json.dumps(named).encode()).nodes == ("a", "b")
    whole = {"Pod": POD, "Nodes": {"items": [{"metadata": {"name": "a"}}]}, "NodeNames": None}
    assert extender_question(json.dumps(whole).encode()).nodes == ("a",)
    neither = {"Pod": POD, "Nodes": {"items": None}}
    assert extender_question(json.dumps(neither).encode()).nodes == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"Pod": 3}',
        b'{"Pod": {"spec": {"containers": {}}}}',
        b'{"Pod": {}, "NodeNames": [3]}',
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"Pod": {}, "NodeNames": ["n"] * (MOST_NODES + 1)}).encode(),
        json.dumps({"Pod": {}, "NodeNames": ["n" * 300]}).encode(),
    ],
)
def test_hostile_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidPlacementError):
        extender_question(body)


def test_of_a_scheduler_what_is_no_amount_is_nothing() -> None:
    odd = {"cpu": "many", "memory": "1e999999Gi"}
    pod = {"metadata": {}, "spec": {"containers": [{"resources": {"requests": odd}}]}}
    found = extender_question(json.dumps({"Pod": pod, "NodeNames": []}).encode()).pod
    assert found.cpu_cores == 0.0
    assert 0.0 <= found.memory_bytes <= 1e18
    assert found.workload == ("default", "Pod", "")


def test_what_is_no_pod_is_refused() -> None:
    for body in (b"{}", b'{"spec": {"containers": []}}', b"3"):
        with pytest.raises(InvalidPlacementError):
            pod_question(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.binary(max_size=60) | json_values.map(lambda v: json.dumps({"Pod": v}).encode()))
def test_any_bytes_are_a_question_or_refused(body: bytes) -> None:
    for ask in (extender_question, pod_question):
        with contextlib.suppress(InvalidPlacementError):
            ask(body)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"containers": [{"resources": {"requests": {"cpu": "100mm"}}}]},
            "spec.containers[0].resources.requests.cpu: '100mm' is not an amount of cpu",
        ),
        (
            {"initContainers": [{}, {"resources": {"requests": {"memory": "-5"}}}]},
            "spec.initContainers[1].resources.requests.memory: '-5' is not an amount of memory",
        ),
        ({"overhead": {"cpu": "1e400"}}, "spec.overhead.cpu: '1e400' is not an amount of cpu"),
    ],
)
def test_whoever_mistypes_an_amount_is_told_so_and_a_scheduler_is_answered(
    changed: dict[str, object], why: str
) -> None:
    pod = json.loads(json.dumps(POD))
    pod["spec"] |= changed
    with pytest.raises(InvalidPlacementError) as refused:
        pod_question(json.dumps(pod).encode())
    assert str(refused.value) == why
    asked = extender_question(json.dumps({"Pod": pod, "NodeNames": ["a"]}).encode())
    assert asked.pod.workload == ("shop", "Deployment", "web")
