"""Conditions on fields hold or not, whatever the pod is made of, and never raise."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.field_conditions import (
    FIELD,
    FieldCondition,
    Operator,
    compiled,
    faults,
)

POD: Any = {
    "metadata": {
        "labels": {"app.kubernetes.io/name": "web", "tier": None},
        "annotations": {"a/b": "x"},
    },
    "spec": {
        "hostNetwork": True,
        "hostPID": False,
        "priority": 1000,
        "serviceAccountName": "ci-bot",
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "host", "hostPath": {"path": "/"}}],
        "containers": [
            {"name": "app", "ports": [{"containerPort": 80}, {"containerPort": 8080}]},
            {"name": "side", "resources": {"limits": {"memory": "2Gi"}}},
        ],
    },
}


def holds(field: str, operator: Operator, *values: str, **more: Any) -> bool:
    condition = FieldCondition(field=field, operator=operator, values=values, **more)
    assert not list(faults(condition))
    return compiled(condition)(POD, "Pod")


@pytest.mark.parametrize(
    ("field", "operator", "values", "expected"),
    [
        ("hostNetwork", "In", ["true"], True),
        ("hostPID", "In", ["true"], False),
        ("spec.hostNetwork", "In", ["true"], True),
        ("spec.containers[name=app].ports[*].containerPort", "In", ["80"], True),
        ("spec", "DoesNotExist", [], False),
        ("hostPID", "Exists", [], True),
        ("hostIPC", "NotIn", ["true"], True),
        ("hostIPC", "DoesNotExist", [], True),
        ("metadata.labels[tier]", "Exists", [], False),
        ("metadata.labels[app.kubernetes.io/name]", "In", ["w*"], True),
        ("metadata.annotations[a/b]", "In", ["y", "x"], True),
        ("serviceAccountName", "NotIn", ["ci-*"], False),
        ("priority", "In", ["1000"], True),
        ("containers[*].ports[*].containerPort", "In", ["8080"], True),
        ("containers[name=side].ports[*].containerPort", "Exists", [], False),
        ("containers[name=app].ports", "Exists", [], True),
        ("volumes[*].hostPath.path", "Exists", [], True),
        ("volumes[name=data].hostPath", "Exists", [], False),
        ("volumes[*].emptyDir", "In", ["{}"], True),
        ("workload.spec.replicas", "Exists", [], False),
        ("containers.name", "Exists", [], False),
        ("metadata.labels[env]", "Exists", [], False),
        ("metadata.labels[0]", "Exists", [], False),
        ("hostNetwork[*]", "Exists", [], False),
    ],
)
def test_a_condition_holds_or_not(
    field: str, operator: Operator, values: list[str], expected: bool
) -> None:
    assert holds(field, operator, *values) is expected


@pytest.mark.parametrize(
    ("field", "amount", "above", "below"),
    [
        ("priority", "999", True, False),
        ("priority", "1000", False, False),
        ("containers[*].resources.limits.memory", "1Gi", True, False),
        ("containers[*].resources.limits.memory", "2048Mi", False, False),
        ("containers[*].resources.limits.memory", "4G", False, True),
        ("containers[*].ports[*].containerPort", "1024", True, True),
        ("hostNetwork", "0", False, False),
        ("serviceAccountName", "1", False, False),
        ("nothing", "1", False, False),
    ],
)
def test_amounts_are_compared_as_amounts(field: str, amount: str, above: bool, below: bool) -> None:
    assert holds(field, "Above", amount=amount) is above
    assert holds(field, "Below", amount=amount) is below


@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_the_same_field_is_meant_in_the_template_of_a_workload(kind: str) -> None:
    manifest = POD
    for name in reversed(TEMPLATES[kind]):
        manifest = {name: manifest}
    condition = FieldCondition(field="hostNetwork", operator="In", values=("true",))
    assert compiled(condition)(manifest, kind)


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ({"field": "a b", "operator": "Exists"}, ".field: expected a field like"),
        ({"field": "a[b", "operator": "Exists"}, ".field: expected a field like"),
        (
            {"field": "containers[0].image", "operator": "Exists"},
            "containers is a list: write containers[*]",
        ),
        ({"field": "spec.volumes[data]", "operator": "Exists"}, "volumes is a list"),
        ({"field": "containers[*].env[A].value", "operator": "Exists"}, "env is a list"),
        ({"field": "a", "operator": "In"}, ".values: expected some"),
        ({"field": "a", "operator": "Exists", "values": ("x",)}, ".values: expected none"),
        ({"field": "a", "operator": "Above"}, ".amount: expected one"),
        ({"field": "a", "operator": "Exists", "amount": "1"}, ".amount: expected none"),
        ({"field": "a", "operator": "Below", "amount": "much"}, "expected a number"),
    ],
)
def test_what_cannot_be_compiled_is_named(condition: Any, fault: str) -> None:
    [found] = faults(FieldCondition(**condition))
    assert fault in found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["metadata", "spec", "a", "labels", "name"]), inner)
    ),
)


@given(
    JSON,
    st.from_regex(re.compile(FIELD.pattern, re.ASCII), fullmatch=True)
    | st.sampled_from(["a", "a[*].name", "metadata.labels[a]", "a[name=b].a"]),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Above", "Below"]),
)
def test_no_object_is_too_strange(manifest: Any, field: str, operator: Operator) -> None:
    values = ("x*",) if operator in ("In", "NotIn") else ()
    amount = "1" if operator in ("Above", "Below") else None
    condition = FieldCondition(field=field, operator=operator, values=values, amount=amount)
    judged = compiled(condition)
    assert isinstance(judged(manifest, "Pod"), bool)
    opposite: dict[Operator, Operator] = {"In": "NotIn", "Exists": "DoesNotExist"}
    if operator in opposite:
        other = FieldCondition(field=field, operator=opposite[operator], values=values)
        assert compiled(other)(manifest, "Pod") is not judged(manifest, "Pod")
