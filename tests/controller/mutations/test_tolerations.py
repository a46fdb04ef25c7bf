"""Tolerations are told apart as Kubernetes tells them apart, and not by their place."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.tolerations import Tolerations, apply, faults


def wanted(**fields: Any) -> Tolerations:
    return msgspec.convert(fields, Tolerations)


def tolerated(listed: Any, **fields: Any) -> Any:
    draft = Draft({"spec": {"tolerations": listed}}, "Pod")
    apply(draft, wanted(**fields), policy="p")
    return draft.manifest["spec"].get("tolerations")


GPU = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
OTHER = {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}


def test_what_is_missing_is_added_last() -> None:
    assert tolerated([OTHER], add=[GPU]) == [OTHER, GPU]
    assert tolerated(None, add=[GPU]) == [GPU]


def test_what_is_there_in_other_words_is_there() -> None:
    short = {"key": "a", "value": "b"}
    assert tolerated([short], add=[{"key": "a", "operator": "Equal", "value": "b"}]) == [short]
    seconds = {**OTHER, "tolerationSeconds": 5}
    assert tolerated([seconds], add=[{**OTHER, "tolerationSeconds": 60}]) == [seconds]


def test_all_that_fit_are_removed_and_others_stay() -> None:
    listed = [GPU, "odd", OTHER, {"key": "disk"}]
    assert tolerated(listed, remove=[{"key": "gpu"}]) == ["odd", {"key": "disk"}]
    assert tolerated(listed, remove=[{"effect": "NoExecute"}]) == [GPU, "odd", {"key": "disk"}]
    assert tolerated([GPU], remove=[{"key": "gpu"}]) is None


def test_one_that_stands_there_twice_is_named_and_stays() -> None:
    draft = Draft({"spec": {"tolerations": [GPU, OTHER, GPU]}}, "Pod")
    warnings = apply(draft, wanted(remove=[{"key": "gpu"}]), policy="p")
    assert draft.manifest["spec"]["tolerations"] == [GPU, GPU]
    assert [each.endswith("}]: left alone: it stands there twice") for each in warnings] == [True]


def test_pressure_is_put_up_with_up_to_a_grade_and_each_grade_once() -> None:
    made = tolerated([GPU], pressureUpTo=2)
    assert made == [
        GPU,
        *(
            {
                "key": "nemutator.io/pressure",
                "operator": "Equal",
                "value": grade,
                "effect": "PreferNoSchedule",
            }
            for grade in ("1", "2")
        ),
    ]
    assert tolerated(made, pressureUpTo=2) == made


def test_an_edit_says_which_one() -> None:
    draft = Draft({"spec": {"tolerations": [OTHER]}}, "Pod")
    apply(draft, wanted(add=[GPU], remove=[{"key": "gpu"}]), policy="p")
    edits = {edit.path: (edit.before, edit.after) for edit in draft.edits()}
    assert edits == {
        'tolerations[={"effect":"NoExecute","key":"gpu","operator":"Exists"}]': ((OTHER,), ()),
        'tolerations[={"effect":"NoSchedule","key":"gpu","operator":"Exists"}]': ((), (GPU,)),
    }


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "add: name at least one here or in remove, or pressureUpTo"),
        ({"add": [{"operator": "Equal"}]}, "add[0].key: Equal takes one"),
        ({"add": [{"operator": "Exists", "value": "x"}]}, "add[0].value: Exists takes none"),
        ({"add": [{"key": "a b"}]}, "add[0]: expected a taint's key and value"),
        ({"add": [{"key": "a", "value": "b c"}]}, "add[0]: expected a taint's key and value"),
        (
            {"add": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3}]},
            "add[0].tolerationSeconds: only NoExecute takes it",
        ),
        ({"remove": [{}]}, "remove[0]: name at least one field"),
    ],
)
def test_what_an_api_server_would_refuse_is_named(fields: Any, fault: str) -> None:
    assert list(faults(wanted(**fields))) == [fault]


def test_every_taint_may_be_tolerated() -> None:
    assert list(faults(wanted(add=[{"operator": "Exists"}]))) == []
