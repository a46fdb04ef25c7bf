"""A policy is typed, and what is wrong with one names the field."""

from typing import Any

import pytest
from nemutator_controller.policies.model import (
    MOST_MUTATIONS,
    PolicyError,
    policy_from_document,
    policy_of,
)

TEAM = {"labels": {"set": {"team": "a"}}}
GOOD = {"mutations": [TEAM]}


def test_a_policy_previews_until_it_says_otherwise() -> None:
    assert policy_of("p", GOOD).spec.mode == "Preview"
    assert policy_of("p", GOOD | {"mode": "Apply"}).spec.mode == "Apply"


def test_selectors_select() -> None:
    match = {
        "podSelector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]},
                {"key": "legacy", "operator": "DoesNotExist"},
            ],
        }
    }
    pods = policy_of("p", GOOD | {"match": match}).pods
    assert pods.matches({"app": "web", "tier": "a"})
    assert not pods.matches({"app": "web", "tier": "c"})
    assert not pods.matches({"app": "web", "tier": "a", "legacy": ""})
    assert not pods.matches({"tier": "a"})


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (None, "spec: expected `object`, got `null`"),
        ([], "spec: expected `object`, got `array`"),
        ({}, "spec: object missing required field `mutations`"),
        ({"mutations": []}, "spec.mutations: expected `array` of length >= 1"),
        ({"mutations": [{}]}, "spec.mutations[0]: expected exactly one of labels,"),
        ({"mutations": [TEAM, {"lables": {}}]}, "spec.mutations[1]: object contains unknown"),
        (
            {"mutations": [TEAM] * (MOST_MUTATIONS + 1)},
            f"spec.mutations: expected `array` of length <= {MOST_MUTATIONS}",
        ),
        (GOOD | {"mode": "apply"}, "spec.mode: invalid enum value 'apply'"),
        (GOOD | {"mood": "Apply"}, "spec: object contains unknown field `mood`"),
        (
            GOOD | {"match": {"names": ["a", ""]}},
            "spec.match.names[1]: expected `str` of length >= 1",
        ),
        (
            GOOD | {"match": {"excludedNames": ["*"] * 65}},
            "spec.match.excludedNames: expected `array` of length <= 64",
        ),
        (
            GOOD | {"match": {"podSelector": {"matchLabels": {"a b": ""}}}},
            "spec.match.podSelector.matchLabels[a b]: expected a label's key",
        ),
        (GOOD | {"match": {"annotations": {"a b": "*"}}}, "spec.match.annotations[a b]: expected"),
        (
            GOOD | {"match": {"annotations": {"b": "x", "a": ""}}},
            "spec.match.annotations[a]: expected `str` of length >= 1",
        ),
        (
            GOOD | {"match": {"annotations": {"a": "x" * 254}}},
            "spec.match.annotations[a]: expected `str` of length <= 253",
        ),
        (
            GOOD | {"match": {"images": ["*", "nginx:1"]}},
            "spec.match.images[1]: 'nginx:1' fits no repository in full",
        ),
        (
            GOOD | {"match": {"ownerKinds": ["Job", "daemonset"]}},
            "spec.match.ownerKinds[1]: 'daemonset' fits no kind",
        ),
        (GOOD | {"match": {"percent": 101}}, "spec.match.percent: expected `int` <= 100"),
        (
            GOOD
            | {
                "match": {
                    "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}
                }
            },
            "spec.match.namespaceSelector.matchExpressions[0].values: expected some",
        ),
        (
            {"mutations": [{"labels": {"set": {"a": "b c"}}}]},
            "spec.mutations[0].labels.set[a]: expected a label's key and value",
        ),
        (
            {"mutations": [{"annotations": {"add": {"a b": ""}}}]},
            "spec.mutations[0].annotations.add[a b]: expected an annotation's key",
        ),
        (
            {"mutations": [{"resources": {"requests": {"cpu": {"value": "x"}}}}]},
            "spec.mutations[0].resources.requests.cpu.value: 'x'",
        ),
        (
            {"mutations": [{"resources": {"requests": {"gpu": {"value": "1"}}}}]},
            "spec.mutations[0].resources.requests: invalid enum value 'gpu'",
        ),
    ],
)
def test_what_is_wrong_names_the_field(spec: Any, fault: str) -> None:
    with pytest.raises(PolicyError) as error:
        policy_of("p", spec)
    assert any(each.startswith(fault) for each in error.value.faults), error.value.faults


def test_a_whole_document() -> None:
    head = {"apiVersion": "nemutator.io/v1alpha1", "kind": "MutationPolicy"}
    document = head | {"metadata": {"name": "team"}, "spec": GOOD}
    assert policy_from_document(document).name == "team"
    documents: tuple[Any, ...] = (
        [],
        {},
        document | {"kind": "Pod"},
        document | {"metadata": None},
        document | {"metadata": {"name": 3}},
        document | {"metadata": {"name": ""}},
        document | {"metadata": {"name": "Team Shop"}},
        document | {"metadata": {"name": "a..b"}},
        document | {"metadata": {"name": "a" * 254}},
    )
    for changed in documents:
        with pytest.raises(PolicyError):
            policy_from_document(changed)
