from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.journal.manifests import (
    DEEPEST,
    LARGEST,
    ManifestError,
    body_of,
    manifest_of,
    read_manifest,
)

from tests.fakes.manifests import deployment, policy

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def test_a_workload_is_its_own_owner_and_has_a_namespace() -> None:
    manifest = manifest_of(deployment())
    subject = manifest.subject
    assert (subject.kind, subject.namespace, subject.name) == ("Deployment", "default", "web")
    assert (subject.owner_kind, subject.owner_name) == ("Deployment", "web")
    assert not manifest.is_policy
    there = deployment()
    there["metadata"]["namespace"] = "team"
    assert manifest_of(there).subject.namespace == "team"


def test_a_pod_has_no_owner() -> None:
    pod = {**deployment(), "apiVersion": "v1", "kind": "Pod"}
    assert manifest_of(pod).subject.owner_name == ""


def test_a_policy_has_no_namespace() -> None:
    manifest = manifest_of(policy())
    assert manifest.is_policy
    assert (manifest.subject.namespace, manifest.subject.name) == ("", "defaults")


def test_the_beginning_of_a_name_is_enough_where_nothing_is_kept_by_it() -> None:
    pod = {**deployment(), "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}}
    subject = manifest_of(pod, may_be_unnamed=True).subject
    assert (subject.name, subject.generate_name) == ("", "web-")
    pod["metadata"]["generateName"] = "x" * 254
    for may_be_unnamed, field in ((True, "generateName"), (False, "name")):
        with pytest.raises(ManifestError, match=rf"metadata\.{field}: expected 1 to 253"):
            manifest_of(pod, may_be_unnamed=may_be_unnamed)
    with pytest.raises(ManifestError, match="only an API server makes one of generateName"):
        manifest_of(pod)


@pytest.mark.parametrize(
    ("document", "faults"),
    [
        (None, ["the document: expected an object"]),
        ({}, ["apiVersion: ", "kind: ", "metadata: ", "metadata.name: ", "spec: "]),
        (
            {**deployment(), "kind": "Gadget"},
            ["kind: expected MutationPolicy, SeasonPolicy or one of Pod"],
        ),
        ({**deployment(), "kind": ["Pod"]}, ["kind: expected"]),
        ({**deployment(), "metadata": {"name": "x" * 254}}, ["metadata.name: expected 1 to 253"]),
        ({**deployment(), "metadata": {"name": "x", "namespace": 3}}, ["metadata.namespace: "]),
        (
            {**deployment(), "metadata": {"name": 12}},
            ["metadata.name: expected 1 to 253 characters of text, so write it in quotes"],
        ),
        (
            {**policy(), "spec": {"mutations": []}},
            ["spec.mutations: expected `array` of length >= 1"],
        ),
    ],
)
def test_each_fault_is_named(document: object, faults: list[str]) -> None:
    with pytest.raises(ManifestError) as caught:
        manifest_of(document)
    assert len(caught.value.faults) == len(faults)
    for said, wanted in zip(caught.value.faults, faults, strict=True):
        assert said.startswith(wanted)


@given(JSON, st.sampled_from(["apiVersion", "kind", "metadata", "spec"]))
def test_nonsense_is_refused_and_nothing_else_is_raised(value: Any, field: str) -> None:
    for whole in (value, {**deployment(), field: value}, {**policy(), field: value}):
        try:
            assert manifest_of(whole).subject.name
        except ManifestError as error:
            assert error.faults  # noqa: PT017 - whatever was drawn, it is one or the other


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"\xff", b"[" * 100_000, b" " * (LARGEST + 1)),
        *(b"1" * 5_000, b'{"a": "\xff"}', b"[" * 65 + b"]" * 65),
    ],
)
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(ManifestError, match="the document: "):
        read_manifest(body)


def test_a_manifest_is_kept_readable_while_that_is_small_enough() -> None:
    assert body_of({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}\n'
    long = {"x": [1] * 200_000}
    assert body_of(long).count(b"\n") == 1
    assert read_manifest(body_of(long)) == long
    with pytest.raises(ManifestError, match="larger than"):
        body_of({"x": "y" * LARGEST})


def test_what_is_json_is_read() -> None:
    deepest = b"[" * DEEPEST + b"]" * DEEPEST
    assert read_manifest(b'{"a": ' + deepest[1:-1] + b"}")
