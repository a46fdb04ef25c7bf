"""A ForecastScaler is sound, or every fault of it is named."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.policies.model import PolicyError
from nemutator_controller.scaling.model import scaler_of


def test_what_is_left_out_previews_and_follows_the_upper_line() -> None:
    one = scaler_of("shop", "web", "u", {"target": "web"})
    assert (one.key, one.target) == (("shop", "web"), ("shop", "web"))
    assert (one.spec.mode, one.spec.follow, one.spec.margin_percent) == ("Preview", "Upper", 0)


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({}, "target"),
        (None, "spec"),
        ({"target": ""}, "spec.target"),
        ({"target": "w", "minReplicas": 5, "maxReplicas": 2}, "minReplicas is above maxReplicas"),
        ({"target": "w", "minReplicas": 0}, "spec.minReplicas"),
        ({"target": "w", "maxReplicas": 10**9}, "spec.maxReplicas"),
        ({"target": "w", "mode": "Off"}, "spec.mode"),
        ({"target": "w", "min_replicas": 1}, "min_replicas"),
        ({"target": "w", "leadSeconds": 1}, "spec.leadSeconds"),
        ({"target": "w", "opportunistic": {"sharePercent": 101}}, "sharePercent"),
        ({"target": "w", "guard": {"query": "up"}}, "above"),
        ({"target": "w", "guard": {"query": "up", "above": float("inf")}}, "expected a number"),
    ],
)
def test_a_fault_is_named(spec: Any, fault: str) -> None:
    with pytest.raises(PolicyError) as caught:
        scaler_of("shop", "web", "u", spec)
    assert fault in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from(["target", "mode", "minReplicas", "guard", "opportunistic", "follow"])


@settings(max_examples=30)
@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_whatever_the_server_has_stored_is_sound_or_a_fault(spec: dict[str, Any]) -> None:
    said, one = "", None
    try:
        one = scaler_of("shop", "web", "u", spec)
    except PolicyError as error:
        said = str(error)
    assert said or (one is not None and one.spec.target == spec["target"])
