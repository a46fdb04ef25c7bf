"""Variables are set, added and removed; order and valueFrom stay, and no secret becomes a value."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.env import EnvRules, apply, faults

FROM = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


def rules(**fields: Any) -> EnvRules:
    return msgspec.convert(fields, EnvRules)


def changed(listed: Any, **fields: Any) -> tuple[Any, list[str]]:
    draft = Draft({"spec": {"containers": [{"name": "app", "env": listed}]}}, "Pod")
    warnings = apply(draft, rules(**fields), policy="p")
    return draft.manifest["spec"]["containers"][0].get("env"), warnings


def plain(**variables: str) -> list[Any]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def test_values_are_replaced_in_their_place_and_added_last() -> None:
    wanted = {"set": plain(B="2", N="3"), "add": plain(A="9", Z="1")}
    assert changed(plain(A="1", B="1", C="1"), **wanted) == (
        plain(A="1", B="2", C="1", N="3", Z="1"),
        [],
    )
    assert changed(None, **wanted)[0] == plain(B="2", N="3", A="9", Z="1")


def test_what_has_a_source_keeps_it() -> None:
    listed, [warning] = changed([FROM], set=plain(A="1"))
    assert listed == [FROM]
    assert warning == "policy p: containers[name=app].env[name=A]: left alone: it has valueFrom"
    assert changed([FROM], add=plain(A="1")) == ([FROM], [])


def test_one_that_stands_there_twice_is_named_and_not_set_where_the_other_counts() -> None:
    listed = [*plain(A="1"), *plain(A="2")]
    why = "policy p: containers[name=app].env[name=A]: left alone: it stands there twice"
    assert changed(listed, set=plain(A="3")) == (listed, [why])
    assert changed(listed, set=plain(A="2")) == (listed, [])


def test_a_source_is_written_as_the_server_stores_it() -> None:
    keys = {"configMapKeyRef": {"name": "c", "key": "k", "optional": True}}
    secret = {"secretKeyRef": {"name": "s", "key": "k"}}
    added = [FROM, {"name": "B", "valueFrom": keys}, {"name": "C", "valueFrom": secret}]
    listed, _ = changed([], add=added)
    assert listed[0]["valueFrom"] == {
        "fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}
    }
    assert listed[1:] == added[1:]
    # What is there already is no reason to warn.
    assert changed(listed, set=added) == (listed, [])


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        (plain(A="1", B="x/$(A)"), "B refers to it"),
        ([{"name": "A", "value": "$(B)"}, *plain(B="1")], "it refers to one that comes later"),
        ([*plain(A="1"), *plain(A="2")], "it stands there twice"),
    ],
)
def test_what_could_not_be_put_back_is_not_removed(listed: Any, why: str) -> None:
    assert changed(listed, remove=["A"]) == (
        listed,
        [f"policy p: containers[name=app].env[name=A]: left alone: {why}"],
    )


def test_what_the_command_needs_is_not_removed() -> None:
    app = {"name": "app", "env": plain(A="1"), "args": ["--name=$(A)"]}
    draft = Draft({"spec": {"containers": [app]}}, "Pod")
    [warning] = apply(draft, rules(remove=["A"]), policy="p")
    assert warning.endswith("containers[name=app].env[name=A]: left alone: `args` refers to it")
    assert draft.edits() == ()


def test_what_nobody_needs_is_removed() -> None:
    assert changed(["odd", *plain(A="1", B="$(C)"), FROM | {"name": "D"}], remove=["A", "D"]) == (
        ["odd", *plain(B="$(C)")],
        [],
    )
    assert changed(plain(A="1"), remove=["A", "Z"]) == (None, [])


def test_a_secret_is_declared_and_never_a_value() -> None:
    manifest = {
        "metadata": {"annotations": {"nemutator.io/env.OWN": "secret/own#a"}},
        "spec": {"containers": [{"name": "app"}]},
    }
    draft = Draft(manifest, "Pod")
    ours = [{"name": name, "secret": "secret/app#token"} for name in ("OWN", "TOKEN")]
    assert apply(draft, rules(add=ours), policy="p") == []
    [edit] = draft.edits()
    assert (edit.path, edit.verb) == ("metadata.annotations[nemutator.io/env.TOKEN]", "env")
    assert edit.after == ("secret/app#token",)
    apply(draft, rules(set=ours), policy="p")
    assert draft.manifest["metadata"]["annotations"]["nemutator.io/env.OWN"] == "secret/app#token"
    assert draft.manifest["spec"] == manifest["spec"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "set: name at least one"),
        ({"set": [{"name": "A"}]}, "set[0]: expected exactly one of value, valueFrom, secret"),
        ({"set": [{"name": "a b", "value": "x"}]}, "set[0].name: expected the name"),
        ({"remove": ["a=b"]}, "remove[0]: expected the name of a variable"),
        ({"add": plain(A="secret/app#token")}, "add[0].value: this looks like a reference"),
        ({"add": plain(A="vault:secret/data/app")}, "add[0].value: this looks like a reference"),
        ({"add": plain(A=">>vault:x\ny")}, "add[0].value: this looks like a reference"),
        ({"add": [{"name": "A", "secret": "token"}]}, "add[0].secret: expected mount/path#key"),
        ({"add": [{"name": "A", "valueFrom": {}}]}, "add[0].valueFrom: expected exactly one"),
        (
            {"add": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.replicas"}}}]},
            "add[0].valueFrom.fieldRef.fieldPath: 'spec.replicas': expected a field of the pod",
        ),
        (
            {
                "set": [
                    {
                        "name": "A",
                        "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a b']"}},
                    }
                ]
            },
            "set[0].valueFrom.fieldRef.fieldPath: ",
        ),
        (
            {"set": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "A b", "key": "k"}}}]},
            "set[0].valueFrom.secretKeyRef.name: 'A b': expected small letters",
        ),
        (
            {"set": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "..k"}}}]},
            "set[0].valueFrom.configMapKeyRef.key: '..k': expected letters",
        ),
        ({"add": plain(A="1"), "remove": ["A"]}, "set: the same name stands twice"),
    ],
)
def test_what_cannot_work_is_named(fields: Any, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(rules(**fields)))


def test_ordinary_values_are_no_references() -> None:
    ordinary = ["", "#fff", "https://example.com/a#b", "a/b", "secret", "key=a/b#c", "a b/c#d"]
    variables = [{"name": f"V{at}", "value": value} for at, value in enumerate(ordinary)]
    assert list(faults(rules(set=variables))) == []
