"""Selectors and the labels of templates change together, and only before the workload exists."""

from typing import Any

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.workload_selectors import (
    WAY_OUT,
    SelectorRules,
    apply,
    faults,
    match_labels,
)

RENAME = SelectorRules(rename={"app": "name"})


def workload(*, labels: Any = None, **selector: Any) -> Any:
    labels = {"app": "web", "tier": "a"} if labels is None else labels
    selector = {"matchLabels": {"app": "web", "tier": "a"}} | selector
    return {"spec": {"selector": selector, "template": {"metadata": {"labels": labels}}}}


def after(rules: SelectorRules, manifest: Any = None, existing: Any = None) -> tuple[Any, Any, Any]:
    """Selector, labels of the template, and warnings."""
    draft = Draft(workload() if manifest is None else manifest, "Deployment")
    warnings = apply(draft, rules, existing=existing, policy="p")
    spec = draft.manifest["spec"]
    return spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"], warnings


@pytest.mark.parametrize(
    ("rules", "made"),
    [
        (SelectorRules(set={"app": "shop"}), {"app": "shop", "tier": "a"}),
        (RENAME, {"name": "web", "tier": "a"}),
        (
            SelectorRules(rename={"app": "name"}, set={"name": "shop"}),
            {"name": "shop", "tier": "a"},
        ),
        (SelectorRules(set={"team": "x"}), {"app": "web", "tier": "a"}),
        (SelectorRules(set={"app": "web"}), {"app": "web", "tier": "a"}),
    ],
)
def test_keys_values_or_both_change_in_both_places(rules: SelectorRules, made: Any) -> None:
    assert after(rules) == (made, made, [])


def test_every_replica_makes_the_edits_in_the_same_order() -> None:
    # Otherwise another replica would take what is applied again for a new decision.
    keys = [f"key{number}" for number in range(16)]
    labels = dict.fromkeys(keys, "a")
    draft = Draft(workload(labels=labels, matchLabels=labels), "Deployment")
    assert (
        apply(draft, SelectorRules(set=dict.fromkeys(keys, "b")), existing=None, policy="p") == []
    )
    both = [
        path
        for key in keys
        for path in (f"workload.spec.selector.matchLabels[{key}]", f"metadata.labels[{key}]")
    ]
    assert [edit.path for edit in draft.edits()] == both


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (workload(labels={"app": "other"}), "the template does not have the label"),
        (
            workload(matchExpressions=[{"key": "app", "operator": "Exists"}]),
            "an expression of the selector asks for it, too",
        ),
        (workload(labels={"app": "web", "name": "x"}), "name is there already"),
    ],
)
def test_what_cannot_be_changed_in_both_places_stays(manifest: Any, why: str) -> None:
    selector, labels, [warning] = after(RENAME, manifest)
    assert (selector["app"], labels["app"]) == (
        "web",
        manifest["spec"]["template"]["metadata"]["labels"]["app"],
    )
    assert warning == f"policy p: workload.spec.selector.matchLabels[app]: left alone: {why}"


@pytest.mark.parametrize("rules", [SelectorRules(rename={"x": "y"}), SelectorRules(set={"x": "b"})])
def test_a_key_that_only_an_expression_has_is_told_of(rules: SelectorRules) -> None:
    expression = {"key": "x", "operator": "In", "values": ["a"]}
    manifest = workload(labels={"app": "web", "x": "a"}, matchExpressions=[expression, "odd"])
    selector, labels, [warning] = after(rules, manifest)
    assert (selector, labels) == ({"app": "web", "tier": "a"}, {"app": "web", "x": "a"})
    assert warning == (
        "policy p: workload.spec.selector.matchExpressions: left alone: x stands in an expression,"
        " which is not changed: write it as one of matchLabels"
    )


def test_an_existing_selector_is_not_changed_and_the_way_out_is_named() -> None:
    selector, _, [warning] = after(RENAME, existing={"app": "web", "tier": "a"})
    assert selector["app"] == "web"
    assert warning.endswith(WAY_OUT)
    # What is applied again gets what its object has.
    made = {"name": "web", "tier": "a"}
    assert after(RENAME, existing=made) == (made, made, [])


def test_what_has_no_selector_of_people_is_left_alone() -> None:
    draft = Draft(workload(), "Job")
    assert apply(draft, RENAME, existing=None, policy="p") == []
    assert draft.edits() == ()
    assert match_labels(workload(), "Job") is None
    assert match_labels(workload(), "Deployment") == {"app": "web", "tier": "a"}
    assert match_labels(None, "Deployment") is None


@pytest.mark.parametrize(
    ("rules", "fault"),
    [
        (SelectorRules(), "set: name at least one key here or in rename, or say tokens: true"),
        (SelectorRules(rename={"a b": "c"}), "rename[a b]: expected keys of labels"),
        (SelectorRules(rename={"a": "b", "b": "c"}), "rename[a]: b is renamed, too"),
        (SelectorRules(rename={"a": "c", "b": "c"}), "rename: two keys get the same name"),
        (SelectorRules(set={"a": "b c"}), "set[a]: expected a label's key and value"),
        (
            SelectorRules(rename={"a": "b"}, set={"a": "c"}),
            "set[a]: it is renamed: name the new key",
        ),
        (
            SelectorRules(rename={"a": "nemutator.io/b"}),
            "rename[a]: words of nemutator.io steer nemutator itself; use another key",
        ),
    ],
)
def test_what_cannot_be_meant_is_a_fault(rules: SelectorRules, fault: str) -> None:
    assert list(faults(rules)) == [fault]


def by_tokens(tokens: dict[str, str] | None, rules: SelectorRules | None = None) -> Any:
    draft = Draft(workload(), "Deployment")
    known = None if tokens is None else KnownTokens(tokens)
    rules = rules or SelectorRules(tokens=True)
    warnings = apply(draft, rules, existing=None, policy="p", tokens=known)
    spec = draft.manifest["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    return spec["selector"]["matchLabels"], warnings


LISTED = {"nemu_selectors_replace_list": "app tier"}


@pytest.mark.parametrize(
    ("tokens", "made"),
    [
        ({"nemu_selector_label_app": "name"}, {"name": "web", "tier": "a"}),
        ({"nemu_selector_label_value_app": "shop"}, {"app": "shop", "tier": "a"}),
        (
            {"nemu_selector_label_app": "name", "nemu_selector_label_value_app": "shop"},
            {"name": "shop", "tier": "a"},
        ),
        ({"nemu_selector_label_other": "x"}, {"app": "web", "tier": "a"}),
        ({}, {"app": "web", "tier": "a"}),
    ],
)
def test_the_token_store_says_more_of_the_keys_that_it_lists(tokens: Any, made: Any) -> None:
    assert by_tokens(LISTED | tokens) == (made, [])


def test_a_key_that_is_not_listed_or_that_the_policy_names_is_left_to_it() -> None:
    tokens = {"nemu_selectors_replace_list": "app", "nemu_selector_label_tier": "level"}
    assert by_tokens(tokens)[0] == {"app": "web", "tier": "a"}
    rules = SelectorRules(set={"app": "mine"}, tokens=True)
    assert by_tokens({"nemu_selector_label_value_app": "theirs"} | LISTED, rules)[0] == {
        "app": "mine",
        "tier": "a",
    }


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        (None, "there is no token store"),
        ({}, "nemu_selectors_replace_list: the token store has no such key"),
        (LISTED | {"nemu_selector_label_app": "not a key!"}, "expected keys of labels"),
        (LISTED | {"nemu_selector_label_app": "tier"}, "tier is there already"),
        (
            LISTED | {"nemu_selector_label_app": "x", "nemu_selector_label_tier": "x"},
            "two keys get the same name",
        ),
        (LISTED | {"nemu_selector_label_value_app": "a b"}, "expected a label's key and value"),
        (LISTED | {"nemu_selector_label_app": "nemutator.io/x"}, "steer nemutator itself"),
        ({"nemu_selectors_replace_list": "!"}, "expected 1 to 16 keys"),
    ],
)
def test_what_the_store_says_amiss_changes_nothing_and_is_named(tokens: Any, why: str) -> None:
    made, warnings = by_tokens(tokens)
    assert made == {"app": "web", "tier": "a"}
    assert why in " ".join(warnings)
