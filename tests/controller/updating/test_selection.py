from dataclasses import replace
from typing import Any

import pytest
from nemutator_controller.updating.model import sizing_of
from nemutator_controller.updating.selection import policy_for, selects

from tests.fakes.sized_pods import pod_document, pod_of

POD = replace(pod_of(pod_document()), labels={"tier": "web"})


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ({}, True),
        ({"namespaces": ["shop*"], "names": ["web"], "kinds": ["Deployment"]}, True),
        ({"namespaces": ["bank"]}, False),
        ({"excludedNamespaces": ["shop"]}, False),
        ({"names": ["cart"]}, False),
        ({"excludedNames": ["w*"]}, False),
        ({"kinds": ["DaemonSet"]}, False),
        ({"podSelector": {"matchLabels": {"tier": "web"}}}, True),
        ({"podSelector": {"matchLabels": {"tier": "db"}}}, False),
    ],
)
def test_all_that_is_given_must_fit(match: Any, expected: bool) -> None:
    assert selects(sizing_of("p", {"match": match}), POD) == expected


def test_the_first_by_name_counts_and_the_systems_pods_are_nobodys() -> None:
    policies = [sizing_of(name, {}) for name in "ab"]
    found = policy_for(POD, policies)
    assert found is not None
    assert found.name == "a"
    assert policy_for(replace(POD, namespace="kube-system"), policies) is None
    assert policy_for(POD, policies, own_namespace="shop") is None
