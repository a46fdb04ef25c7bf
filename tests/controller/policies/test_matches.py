"""All that a policy says about its pods must fit, and in doubt it does not."""

from collections.abc import Mapping
from typing import Any

import pytest
from nemutator_controller.policies.matches import CandidatePod, is_in_share, matches
from nemutator_controller.policies.model import policy_of

SELECTED = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}


def pod(labels: Mapping[str, str] | None = None, **changed: Any) -> CandidatePod:
    known: dict[str, Any] = {
        "namespace": "team-a",
        "namespace_labels": {"env": "prod"},
        "labels": labels or {},
        "names": ("web-x1", "web"),
    }
    return CandidatePod(**known | changed)


@pytest.mark.parametrize(
    ("match", "manifest", "expected"),
    [
        ({}, pod(), True),
        ({"namespaces": ["team-*"]}, pod(), True),
        ({"namespaces": ["team-b", "x"]}, pod(), False),
        ({"excludedNamespaces": ["team-?"]}, pod(), False),
        ({"names": ["web"]}, pod(), True),
        ({"names": ["WEB"]}, pod(), False),
        ({"names": ["db*"]}, pod(), False),
        ({"names": ["web*"], "excludedNames": ["*-x1"]}, pod(), False),
        ({"podSelector": {"matchLabels": {"a": "b"}}}, pod({"a": "b"}), True),
        ({"podSelector": {"matchLabels": {"a": "b"}}}, pod(), False),
        (SELECTED, pod(), True),
        (SELECTED, pod(namespace_labels={}), False),
        (SELECTED, pod(namespace_labels=None), False),
        ({}, pod(namespace_labels=None), True),
        ({"images": ["docker.io/*"]}, pod(images=("a.example/b", "docker.io/library/a")), True),
        ({"images": ["docker.io/*"]}, pod(images=("a.example/b",)), False),
        ({"images": ["docker.io/*"]}, pod(images=()), False),
        # Before the spec has been read they may be any.
        ({"images": ["docker.io/*"]}, pod(images=None), True),
        ({"ownerKinds": ["DaemonSet"]}, pod(workload=("DaemonSet", "web")), True),
        ({"ownerKinds": ["DaemonSet"]}, pod(workload=("Deployment", "DaemonSet")), False),
        ({"annotations": {"a/b": "x*"}}, pod(annotations={"a/b": "xy"}), True),
        ({"annotations": {"a/b": "x*"}}, pod(annotations={"a/b": "y"}), False),
        ({"annotations": {"a/b": "*"}}, pod(), False),
        ({"users": ["system:serviceaccount:ci:*"]}, pod(user="system:serviceaccount:ci:bot"), True),
        ({"users": ["system:serviceaccount:ci:*"]}, pod(user="jane"), False),
        ({"users": ["*"]}, pod(), False),
        ({"percent": 100}, pod(), True),
        ({"percent": 0}, pod(), False),
    ],
)
def test_which_pods_are_meant(match: Any, manifest: CandidatePod, expected: bool) -> None:
    policy = policy_of("p", {"match": match, "mutations": [{"labels": {"set": {"a": "b"}}}]})
    assert matches(policy, manifest) is expected


def test_a_share_of_workloads_is_about_that_many_and_grows_by_adding() -> None:
    pods = [pod(workload=("Deployment", f"web-{n}")) for n in range(2_000)]
    tenth = {each.workload for each in pods if is_in_share("p", each, 10)}
    half = {each.workload for each in pods if is_in_share("p", each, 50)}
    other = {each.workload for each in pods if is_in_share("q", each, 10)}
    assert 120 < len(tenth) < 280
    assert 850 < len(half) < 1_150
    assert tenth < half
    # Not always the same workloads go first.
    assert tenth != other
