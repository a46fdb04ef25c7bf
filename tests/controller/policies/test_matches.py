"""All that a policy says about its pods must fit, and in doubt it does not."""

from collections.abc import Mapping
from typing import Any

import pytest
from nemutator_controller.policies.matches import CandidatePod, matches
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
    ],
)
def test_which_pods_are_meant(match: Any, manifest: CandidatePod, expected: bool) -> None:
    policy = policy_of("p", {"match": match, "mutations": [{"labels": {"set": {"a": "b"}}}]})
    assert matches(policy, manifest) is expected
