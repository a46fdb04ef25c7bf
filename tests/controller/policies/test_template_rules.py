"""The API server asks about the kinds that policies of templates are for, and about no others."""

from typing import Any

from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.template_rules import ENTRY, rules_for, rules_patch


def policy(*kinds: str) -> Policy:
    spec: Any = {"applyTo": "template", "mutations": [{"labels": {"set": {"a": "b"}}}]}
    return policy_of("a", spec | {"match": {"ownerKinds": list(kinds)}})


def asked(*policies: Policy) -> list[tuple[list[str], list[str]]]:
    return [(rule["resources"], rule["operations"]) for rule in rules_for(policies)]


def test_without_a_policy_nothing_is_asked() -> None:
    assert rules_for([]) == []


def test_kinds_are_those_that_some_policy_is_for() -> None:
    changed = ["CREATE", "UPDATE"]
    assert asked(policy("Deployment"), policy("*Set")) == [
        (["deployments", "statefulsets", "daemonsets"], changed)
    ]
    assert asked(policy()) == [
        (["deployments", "statefulsets", "daemonsets"], changed),
        (["jobs"], ["CREATE"]),
        (["cronjobs"], changed),
    ]
    assert asked(policy("Rollout")) == []


def test_only_our_entry_is_written_and_only_when_it_differs() -> None:
    rules = rules_for([policy("CronJob")])
    entries: list[Any] = [{"name": "a.example", "rules": [{}]}, {"name": ENTRY}]
    [test, add] = rules_patch({"webhooks": entries}, rules)
    assert test == {"op": "test", "path": "/webhooks/1/name", "value": ENTRY}
    assert add == {"op": "add", "path": "/webhooks/1/rules", "value": rules}
    assert rules_patch({"webhooks": entries}, []) == []
    entries[1]["rules"] = rules
    assert rules_patch({"webhooks": entries}, rules) == []
    assert rules_patch({"webhooks": entries}, [])[1]["value"] == []
    assert rules_patch({}, rules) == []
