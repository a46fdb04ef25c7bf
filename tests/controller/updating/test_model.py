from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.policies.model import PolicyError
from nemutator_controller.updating.model import sizing_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
WORDS = st.sampled_from(["match", "mode", "resources", "when", "minReplicas", "podsAtOnce", "cpu"])


def test_a_policy_that_says_nothing_decides_and_changes_nothing() -> None:
    policy = sizing_of("all", {})
    assert (policy.spec.mode, policy.spec.settled_seconds) == ("Off", 43_200)
    assert (policy.cpu.least, policy.cpu.most) == (None, None)


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (
            {"mode": "Recreate"},
            "spec.mode: invalid enum value 'Recreate': expected one of Evict, InPlace, Initial, Off",
        ),
        ({"modes": "Off"}, "spec: object contains unknown field `modes`"),
        ({"minReplicas": 0}, "spec.minReplicas: expected `int` >= 1"),
        ({"resources": {"cpu": {"min": "0"}}}, "spec.resources.cpu.min: expected more than 0"),
        ({"resources": {"cpu": {"min": "x"}}}, "spec.resources.cpu.min: 'x': expected a number"),
        (
            {"resources": {"memory": {"min": "2Gi", "max": "1Gi"}}},
            "spec.resources.memory: min is above max",
        ),
        (
            {"mode": "InPlace", "resources": {"memory": {"strategy": "Hourly"}}},
            "spec.resources.memory.strategy: Hourly is for CPU alone",
        ),
        (
            {"mode": "Evict", "resources": {"cpu": {"strategy": "Hourly"}}},
            "spec.resources.cpu.strategy: Hourly expects the mode InPlace, or Off",
        ),
        (
            {"mode": "Initial", "resources": {"cpu": {"strategy": "Hourly"}}},
            "spec.resources.cpu.strategy: Hourly expects the mode InPlace, or Off",
        ),
        (
            {"resources": {"cpu": {"strategy": "hourly"}}},
            "spec.resources.cpu.strategy: invalid enum value 'hourly': expected one of Advice, Hourly",
        ),
        (
            {"match": {"podSelector": {"matchLabels": {"-": "a"}}}},
            "spec.match.podSelector.matchLabels",
        ),
        (None, "spec: expected `object`, got `null`"),
    ],
)
def test_a_fault_is_named_with_its_field(spec: Any, fault: str) -> None:
    with pytest.raises(PolicyError) as refused:
        sizing_of("x", spec)
    assert str(refused.value).startswith(fault)


@given(JSON | st.dictionaries(WORDS, JSON, max_size=4))
def test_any_spec_is_a_policy_or_a_named_fault(spec: Any) -> None:
    faults: tuple[str, ...] = ("none",)
    try:
        sizing_of("x", spec)
    except PolicyError as error:
        faults = error.faults
    assert all(faults)
    assert faults
