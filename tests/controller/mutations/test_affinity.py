"""Terms of affinity are added once; what is required of nodes narrows every term."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.affinity import AffinityRules, apply, faults
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import label
from nemutator_controller.mutations.talkers import Talker

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


def test_a_term_that_fits_no_node_does_not_come_to_fit_some() -> None:
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert terms_after([{}]) == [{}]
    assert terms_after([{"matchExpressions": []}, by_name]) == [
        {"matchExpressions": []},
        {**by_name, "matchExpressions": [SSD]},
    ]


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


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def kept_apart(labels: Any, **affinity: Any) -> tuple[Draft, Any]:
    draft = Draft({"metadata": {"labels": labels}, "spec": {"affinity": affinity}}, "Pod")
    apply(draft, rules({"familiars": 40}), policy="p")
    return draft, draft.manifest["spec"]["affinity"].get("podAntiAffinity", {}).get(PREFERRED, [])


def test_a_pod_is_kept_from_nodes_with_others_of_its_workload() -> None:
    labels = {"app": "web", "tier": "front", "pod-template-hash": "5d6"}
    draft, terms = kept_apart(labels)
    assert terms == [
        {
            "weight": 40,
            "podAffinityTerm": {
                "labelSelector": {"matchLabels": {"app": "web", "tier": "front"}},
                "topologyKey": "kubernetes.io/hostname",
            },
        }
    ]
    once = draft.manifest
    # After another webhook it comes again, with a label that a policy has added.
    again = Draft(once | {"metadata": {"labels": labels | {"added": "later"}}}, "Pod")
    apply(again, rules({"familiars": 40}), policy="p")
    assert again.edits() == ()


def test_labels_that_a_policy_has_written_tell_no_pod_from_those_before_it() -> None:
    spec = {"metadata": {"labels": {"app": "web", "made": "monday"}}, "spec": {}}
    draft = Draft(spec, "Pod")
    for key, value in (("team", "shop"), ("made", "weekend")):
        draft.set(label(key), value, Author("labels", "p"))
    apply(draft, rules({"familiars": 40}), policy="p")
    [term] = draft.manifest["spec"]["affinity"]["podAntiAffinity"][PREFERRED]
    assert term["podAffinityTerm"]["labelSelector"] == {"matchLabels": {"app": "web"}}


def test_whoever_keeps_pods_of_a_kind_apart_already_is_left_alone() -> None:
    own = {
        "weight": 1,
        "podAffinityTerm": {
            "labelSelector": {"matchLabels": {"app": "web"}},
            "topologyKey": "kubernetes.io/hostname",
        },
    }
    by_zone = own | {"podAffinityTerm": own["podAffinityTerm"] | {"topologyKey": "zone"}}  # type: ignore[operator]
    assert kept_apart({"app": "web"}, podAntiAffinity={PREFERRED: [own]})[1] == [own]
    assert len(kept_apart({"app": "web"}, podAntiAffinity={PREFERRED: [by_zone]})[1]) == 2


@pytest.mark.parametrize(
    "labels",
    [
        None,
        {},
        {"pod-template-hash": "5d6"},
        {"app": "x" * 60, **{f"k{n}": "v" * 60 for n in range(40)}},
    ],
)
def test_labels_that_say_nothing_or_too_much_keep_nobody_apart(labels: Any) -> None:
    assert kept_apart(labels)[1] == []


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


CACHE = Talker("shop", {"tier": "x", "app": "cache"}, 1.0)


def near(*talkers: Talker, weight: int = 80) -> tuple[Draft, Any]:
    draft = Draft({"spec": {}}, "Pod")
    apply(draft, rules({"talkers": weight}), policy="p", talkers=talkers)
    return draft, draft.manifest["spec"].get("affinity", {}).get("podAffinity", {}).get(
        PREFERRED, []
    )


def test_a_pod_prefers_nodes_with_those_that_its_workload_talks_to_by_how_much() -> None:
    draft, terms = near(CACHE, Talker("data", {"app": "base"}, 0.25))
    assert [(each["weight"], each["podAffinityTerm"]["namespaces"]) for each in terms] == [
        (80, ["shop"]),
        (20, ["data"]),
    ]
    assert terms[0]["podAffinityTerm"] == {
        "labelSelector": {"matchLabels": {"app": "cache", "tier": "x"}},
        "namespaces": ["shop"],
        "topologyKey": "kubernetes.io/hostname",
    }
    once = draft.manifest
    again = Draft(once, "Pod")
    apply(again, rules({"talkers": 80}), policy="p", talkers=[replace(CACHE, share=0.5)])
    assert again.edits() == ()
    assert near(replace(CACHE, share=0.25), weight=1)[1][0]["weight"] == 1


@pytest.mark.parametrize("labels", [{}, {f"k{n}": "v" * 60 for n in range(40)}])
def test_talkers_that_no_labels_find_or_too_many_are_left_out(labels: dict[str, str]) -> None:
    assert near(replace(CACHE, labels=labels))[1] == []
    assert near()[1] == []
