"""A constraint is added where the pod has none of its kind for the same topology."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.topology_spread_constraints import SpreadRules, apply, faults

ZONE = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
STORED = {**ZONE, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}


def rules(*add: Any) -> SpreadRules:
    return msgspec.convert({"add": add}, SpreadRules)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [STORED]),
        (None, [STORED]),
        ([STORED | {"maxSkew": 5}], [STORED | {"maxSkew": 5}]),
        (
            [STORED | {"whenUnsatisfiable": "DoNotSchedule"}],
            [STORED | {"whenUnsatisfiable": "DoNotSchedule"}, STORED],
        ),
    ],
)
def test_what_is_there_stays(before: Any, after: Any) -> None:
    draft = Draft({"spec": {"topologySpreadConstraints": before}}, "Pod")
    apply(draft, rules(ZONE), policy="p")
    assert draft.manifest["spec"]["topologySpreadConstraints"] == after


def test_keys_of_the_pods_own_labels_are_written() -> None:
    draft = Draft({"spec": {}}, "Pod")
    apply(draft, rules(ZONE | {"matchLabelKeys": ["pod-template-hash"]}), policy="p")
    [made] = draft.manifest["spec"]["topologySpreadConstraints"]
    assert made == STORED | {"matchLabelKeys": ["pod-template-hash"]}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"topologyKey": "a b"}, "add[0].topologyKey: expected the key"),
        ({"matchLabelKeys": ["a b"]}, "add[0].matchLabelKeys: expected the key"),
        ({"labelSelector": {"matchLabels": {"a": "b c"}}}, "add[0].labelSelector.matchLabels[a]"),
        (
            {"labelSelector": {"matchLabels": {f"{'a' * 60}{n}": "b" * 63 for n in range(20)}}},
            "add[0]: longer than",
        ),
    ],
)
def test_what_cannot_work_is_named(changed: Any, fault: str) -> None:
    assert [each.startswith(fault) for each in faults(rules(ZONE | changed))] == [True]
