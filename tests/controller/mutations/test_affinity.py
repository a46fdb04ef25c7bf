"""Terms of affinity are added once; what is required of nodes narrows every term."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.affinity import AffinityRules, apply, faults
from nemutator_controller.mutations.edits import Draft

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SSD = {"key": "disk", "operator": "In", "values": ["ssd"]}
ZONE = {"key": "zone", "operator": "Exists"}
PODS = {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "web"}}}


def rules(fields: Any) -> AffinityRules:
    return msgspec.convert(fields, AffinityRules)


def terms_after(terms: Any) -> Any:
    nodes = {} if terms is None else {REQUIRED: {"nodeSelectorTerms": terms}}
    draft = Draft({"spec": {"affinity": {"nodeAffinity": nodes}}}, "Pod")
    apply(draft, rules({"nodeAffinity": {"required": [SSD]}}), policy="p")
    return draft.manifest["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]


def test_a_requirement_narrows_every_term() -> None:
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert terms_after([{"matchExpressions": [ZONE]}, by_name]) == [
        {"matchExpressions": [ZONE, SSD]},
        {**by_name, "matchExpressions": [SSD]},
    ]
    assert terms_after(None) == [{"matchExpressions": [SSD]}]
    assert terms_after([{"matchExpressions": [SSD]}]) == [{"matchExpressions": [SSD]}]


def test_terms_on_pods_are_added_once() -> None:
    wanted = rules(
        {
            "podAffinity": {"preferred": [PODS | {"weight": 3}]},
            "podAntiAffinity": {"required": [PODS]},
        }
    )
    draft = Draft({"spec": {}}, "Pod")
    apply(draft, wanted, policy="p")
    once = draft.manifest
    affinity = once["spec"]["affinity"]
    assert affinity["podAntiAffinity"][REQUIRED] == [PODS]
    [preferred] = affinity["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preferred == {"weight": 3, "podAffinityTerm": PODS}
    apply(draft, wanted, policy="p")
    assert draft.manifest is once


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "nodeAffinity: name at least one term"),
        ({"podAffinity": {}}, "nodeAffinity: name at least one term"),
        (
            {"nodeAffinity": {"required": [{"key": "a", "operator": "In"}]}},
            "nodeAffinity.required[0].values: expected some",
        ),
        (
            {"podAffinity": {"required": [PODS | {"topologyKey": "a b"}]}},
            "podAffinity.required[0].topologyKey: expected the key",
        ),
        (
            {"podAntiAffinity": {"required": [PODS | {"labelSelector": {"matchLabels": {"a": "b c"}}}]}},
            "podAntiAffinity.required[0].labelSelector.matchLabels[a]: expected",
        ),
        (
            {
                "nodeAffinity": {
                    "preferred": [
                        {"weight": 1, "matchExpressions": [ZONE | {"values": ["a" * 63] * 40, "operator": "In"}]}
                    ]
                }
            },
            "a term: longer than",
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_named(fields: Any, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(rules(fields)))
