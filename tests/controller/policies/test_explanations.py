"""What the decoder says about a policy, in the words of the policy."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.policies.explanations import explained
from nemutator_controller.policies.model import Spec


def with_verb(**verb: Any) -> dict[str, Any]:
    return {"mutations": [{"labels": {"set": {"a": "b"}}}, verb]}


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (3, "spec: expected `object`, got `int`"),
        (
            {"mode": "apply"},
            "spec.mode: invalid enum value 'apply': expected one of Apply, Preview",
        ),
        ({"match": {"names": ["a", 3]}}, "spec.match.names[1]: expected `str`, got `int`"),
        (
            {"match": {"podSelector": {"matchExpressions": [{"key": "a", "operator": "in"}]}}},
            (
                "spec.match.podSelector.matchExpressions[0].operator: invalid enum value 'in':"
                " expected one of DoesNotExist, Exists, In, NotIn"
            ),
        ),
        (
            with_verb(labels={"set": {"a": "b", "build": 17}}),
            "spec.mutations[1].labels.set[build]: expected `str`, got `int`",
        ),
        (
            with_verb(labels={"set": {"x" * 100: 17}}),
            f"spec.mutations[1].labels.set[{'x' * 80}]: expected `str`, got `int`",
        ),
        (
            with_verb(labels={"set": {3: "a"}}),
            "spec.mutations[1].labels.set: expected `str`, got `int`",
        ),
        (
            with_verb(resources={"requests": {"memory": {"ratio": 1}, "cpu": {"ratio": "0.5"}}}),
            "spec.mutations[1].resources.requests.cpu.ratio: expected `float`, got `str`",
        ),
        (
            with_verb(resources={"limits": {"cpu": {"ration": 1}}}),
            "spec.mutations[1].resources.limits.cpu: object contains unknown field `ration`",
        ),
        (
            with_verb(sidecars={"add": [{"name": "a", "image": "b", "limits": {"cpu": "lots"}}]}),
            (
                "spec.mutations[1].sidecars.add[0].limits.cpu: expected `str` matching regex"
                f" {QUANTITY.pattern!r}"
            ),
        ),
        (
            with_verb(resources={"requests": {"gpu": {"ratio": 1}}}),
            (
                "spec.mutations[1].resources.requests: invalid enum value 'gpu': expected one of"
                " cpu, ephemeral-storage, memory"
            ),
        ),
        (
            with_verb(resources={"requests": {}}),
            "spec.mutations[1].resources.requests: expected `object` of length >= 1",
        ),
    ],
)
def test_a_fault_names_its_field_and_what_is_allowed(spec: Any, fault: str) -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert(spec, Spec)
    assert explained(str(error.value), spec, Spec, root="spec") == fault


SOUND = "sound"
FIELDS = [
    "match",
    "mode",
    "names",
    "podSelector",
    "matchLabels",
    "set",
    "cpu",
    "ratio",
    "containers",
]
words = st.sampled_from(FIELDS)
documents: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | words | st.just("Apply"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words | st.integers(), inner),
    max_leaves=8,
)


def said_of(spec: Any) -> str:
    try:
        msgspec.convert(spec, Spec)
    except msgspec.ValidationError as error:
        return explained(str(error), spec, Spec, root="spec")
    return SOUND


@pytest.mark.slow
@given(documents, documents, documents)
def test_whatever_is_wrong_can_be_explained(match: Any, verb: Any, amount: Any) -> None:
    requested = {"labels": verb, "resources": {"requests": {"cpu": amount, "memory": verb}}}
    assert said_of(match).startswith("spec")
    for spec in ({"mutations": [requested]}, {"mutations": [], "match": match}):
        assert said_of(spec).startswith(("spec", SOUND))
