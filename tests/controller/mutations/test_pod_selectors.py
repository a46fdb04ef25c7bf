"""Selectors are written as a pod has them, and what the server would refuse is named."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.pod_selectors import LabelSelector, faults, in_a_pod

GOOD = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["a"]},
        {"key": "old", "operator": "DoesNotExist"},
    ],
}


def selector(fields: Any) -> LabelSelector:
    return msgspec.convert(fields, LabelSelector)


def test_a_selector_is_written_as_it_was_given() -> None:
    assert in_a_pod(selector(GOOD)) == GOOD
    assert in_a_pod(selector({})) == {}
    assert list(faults(selector(GOOD))) == []


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"matchLabels": {"a b": ""}}, "matchLabels[a b]: expected"),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "matchExpressions[0].values: exp"),
        (
            {"matchExpressions": [{"key": "a b", "operator": "Exists"}]},
            "matchExpressions[0]: expected",
        ),
    ],
)
def test_what_is_none_is_named(fields: Any, fault: str) -> None:
    assert [each.startswith(fault) for each in faults(selector(fields))] == [True]
