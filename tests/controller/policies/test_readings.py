"""What no policy reads of a pod makes no difference to its plan."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.patches import render
from nemutator_controller.policies.model import policy_of
from nemutator_controller.policies.plans import Situation, plan
from nemutator_controller.policies.readings import (
    EVERYTHING,
    READ,
    READ_OF_SPEC,
    UnreadFields,
    names_a_container,
    needs_all,
    unread_by,
)
from nemutator_controller.policies.snapshot import snapshot_of

from tests.controller.mutations.pods import Json, templates, unknown
from tests.controller.policies.test_policies_in_use import NAMED

INJECT = "nemutator.io/inject"
NEARLY_ALL = UnreadFields(
    is_any=True,
    pod_names=True,
    workload=True,
    container_names=True,
    but_labels=frozenset({INJECT, "team"}),
    amounts=True,
)
UNREAD = ("args", "command", "env", "image", "livenessProbe", "ports", "stdin", "workingDir")
UNREAD_OF_SPEC = ("affinity", "dnsPolicy", "hostname", "imagePullSecrets", "serviceAccountName")
assert READ.isdisjoint(UNREAD)
assert READ_OF_SPEC.isdisjoint(UNREAD_OF_SPEC)
NEAR = {name: spec for name, spec in NAMED.items() if name != "f-env"} | {
    "near": {
        "mode": "Apply",
        "match": {"ownerKinds": ["Deployment"], "percent": 60, "annotations": {"note": "*"}},
        "mutations": [
            {"nodeSelector": {"set": {"a": "b"}}},
            {"tolerations": {"add": [{"key": "gpu", "operator": "Exists"}]}},
            {"priorityClassName": {"set": "high"}},
            {"schedulerName": {"set": "other"}},
        ],
    }
}
POLICIES = snapshot_of(NEAR).for_pods_of("default")
OWNED = Subject(
    api_version="v1", kind="Pod", namespace="default", name="", generate_name="web-1-",
    owner_kind="Deployment", owner_name="web",
)  # fmt: skip


def unread_of(**spec: Any) -> UnreadFields:
    whole = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]} | spec
    return unread_by([policy_of("p", whole)])


def read_of(pod: Json, unread: UnreadFields) -> Json:
    metadata = unread.metadata_of(pod["metadata"], owned=True)
    return {"metadata": metadata, "spec": unread.spec_of(pod["spec"])}


@st.composite
def alike(draw: st.DrawFn) -> tuple[Json, Json]:
    """Two pods, of revisions of one workload."""
    one = draw(templates())
    if draw(st.booleans()):
        one["metadata"]["annotations"] = {"note": "x"}
    return one, _revised(draw, one)


def _revised(draw: st.DrawFn, one: Json) -> Json:
    labels = one["metadata"].get("labels")
    another = st.sampled_from(["", "1", "x"])
    metadata = one["metadata"] | {"generateName": "web-2-", "ownerReferences": draw(unknown)}
    if isinstance(labels, dict):
        one["metadata"]["labels"] = labels | {"pod-template-hash": "1"}
        changed = {key: draw(another) for key in labels if key not in ("team", "tier")}
        metadata["labels"] = labels | changed | {"pod-template-hash": "2"}
    changed_fields = st.dictionaries(st.sampled_from(UNREAD_OF_SPEC), unknown, max_size=2)
    spec = one["spec"] | draw(changed_fields)
    for field in ("containers", "initContainers"):
        if field in spec:
            spec[field] = [
                each | draw(st.dictionaries(st.sampled_from(UNREAD), unknown, max_size=2))
                for each in spec[field]
            ]
    return {"metadata": metadata, "spec": spec}


@pytest.mark.slow
@given(alike(), st.sampled_from(["", "enabled"]))
def test_pods_that_differ_in_what_is_not_read_have_one_plan(
    case: tuple[Json, Json], inject: str
) -> None:
    one, other = case
    labels = frozenset({INJECT, "team", "tier"})
    expected = replace(NEARLY_ALL, but_labels=labels, workload=False, amounts=False)
    assert POLICIES.unread == expected
    assert read_of(one, POLICIES.unread) == read_of(other, POLICIES.unread)
    here = Situation(
        subject=OWNED,
        namespace_labels={"nemutator.io/inject": inject},
        injector=Injector("nemutator/agent:1"),
    )
    there = msgspec.structs.replace(here, subject=replace(OWNED, generate_name="web-2-"))
    planned = plan(one, here, POLICIES)
    assert plan(other, there, POLICIES) == planned
    assert render(other, planned.edits, "Pod") == render(one, planned.edits, "Pod")


def test_what_policies_read_is_what_they_are_for_and_what_they_do() -> None:
    assert unread_of() == NEARLY_ALL
    assert unread_by([]) == replace(NEARLY_ALL, but_labels=frozenset({INJECT}))
    for one in (
        {"match": {"names": ["web*"]}},
        {"match": {"excludedNames": ["web*"]}},
    ):
        assert unread_of(**one) == replace(NEARLY_ALL, pod_names=False, workload=False)
    for match in ({"ownerKinds": ["Job"]}, {"percent": 5}):
        assert unread_of(match=match) == replace(NEARLY_ALL, workload=False)
    half: Json = {"ratio": 0.5}
    for containers, amount, read in (
        (["*"], half, NEARLY_ALL),
        (["app"], half, replace(NEARLY_ALL, container_names=False)),
        (["*"], {"advice": True}, replace(NEARLY_ALL, workload=False, amounts=False)),
    ):
        sized = {"resources": {"containers": containers, "requests": {"cpu": amount}}}
        labelled = {"labels": {"set": {"team": "a"}}}
        assert unread_of(mutations=[sized, labelled]) == read
        assert unread_of(mutations=[sized, sized]).amounts is False
        assert unread_of(mutations=[sized], mode="Preview").amounts is False
        assert (unread_of(mutations=[sized]).sizing is None) is ("advice" in amount)
    hashed = {"matchExpressions": [{"key": "hash", "operator": "Exists"}]}
    assert "hash" in unread_of(match={"podSelector": hashed}).but_labels
    for written in ({"set": {"hash": "a"}}, {"add": {"hash": "a"}}, {"remove": ["hash"]}):
        assert "hash" in unread_of(mutations=[{"labels": written}]).but_labels


@pytest.mark.parametrize(
    "spec",
    [
        {"mutations": [{"env": {"set": [{"name": "A", "value": "b"}]}}]},
        {"mutations": [{"image": {"allowed": ["a/*"]}}]},
        {"mutations": [{"imagePullPolicy": {"set": "Always"}}]},
        {"match": {"images": ["a/*"]}},
        {"match": {"fields": [{"field": "hostNetwork", "operator": "Exists"}]}},
        {"tokens": [{"key": "nemu_label_value_a", "value": "b"}]},
    ],
)
def test_some_policies_read_everything(spec: Json) -> None:
    assert unread_of(**spec) == EVERYTHING


def test_nothing_that_is_read_is_left_out() -> None:
    pod: Json = {
        "metadata": {"name": "web-0", "labels": {"hash": "1", "team": "b"}},
        "spec": {
            "initContainers": [{"name": "nemutator-init", "image": "a"}],
            "containers": [{"name": "a", "image": "a", "env": [{}] * 1_001, "args": ["b"]}, None],
            "imagePullSecrets": [{}] * 1_001,
            "hostname": "a",
            "volumes": [{"name": "a"}, {"name": "nemutator"}, {"name": "b", "csi": {}}, 1],
        },
    }
    assert read_of(pod, EVERYTHING) == pod
    read = read_of(pod, NEARLY_ALL)
    assert read["metadata"] == {"labels": {"hash": "", "team": "b"}}
    assert read["spec"]["initContainers"] == pod["spec"]["initContainers"]
    # What is too large to be planned for is too large for a known plan too.
    [first, second] = read["spec"]["containers"]
    assert (first.keys(), second) == ({"name", "env"}, None)
    assert read["spec"].keys() == {"initContainers", "containers", "imagePullSecrets", "volumes"}
    assert read["spec"]["volumes"] == [True, *pod["spec"]["volumes"][1:]]
    [first, second] = NEARLY_ALL.spec_of(pod["spec"], but_names=True)["containers"]
    assert (first.keys(), second) == ({"env"}, None)
    assert NEARLY_ALL.metadata_of(pod["metadata"], owned=False)["name"] == "web-0"


@pytest.mark.parametrize(
    ("mounts", "read"),
    [
        (None, None),
        ([], False),
        ([{"mountPath": "/a"}], True),
        ([{"mountPath": "/a"}, {"mountPath": "/run/nemutator"}], [{"mountPath": "/run/nemutator"}]),
        ([{"mountPath": "//run/./nemutator/x"}], [{"mountPath": "//run/./nemutator/x"}]),
        ([{"name": "a"}, 1], [{"name": "a"}, 1]),
        ([{"mountPath": "/a"}] * 1_001, [{"mountPath": "/a"}] * 1_001),
    ],
)
def test_of_mounts_those_near_our_directory_are_read(mounts: Json, read: Json) -> None:
    spec = {"containers": [{"name": "a", "volumeMounts": mounts}]}
    assert NEARLY_ALL.spec_of(spec)["containers"][0]["volumeMounts"] == read


def test_an_annotation_may_name_a_container() -> None:
    assert not names_a_container({"nemutator.io/secret.a": "b"})
    assert names_a_container({"nemutator.io/on-rotate.a": "signal:HUP@app"})


def test_a_pod_may_need_all_of_it_to_be_read() -> None:
    assert not needs_all(None)
    assert not needs_all({"a": "b", "nemutator.io/secret.a": "b/c"})
    assert needs_all({"nemutator.io/env.A": "b/c#d"})
    assert needs_all({"nemutator.io/mutation": "{}"})
