"""Policies are applied in the order of their names, and a faulty one stops nobody else's."""

from nemutator_controller.policies.snapshot import MOST, snapshot_of

GOOD = {"mutations": [{"labels": {"set": {"a": "b"}}}]}


def test_the_faulty_are_left_aside_with_their_reason() -> None:
    policies = snapshot_of({"z": GOOD, "bad": {"mutations": []}, "a": GOOD, "worse": None})
    assert [policy.name for policy in policies.sound] == ["a", "z"]
    assert set(policies.faulty) == {"bad", "worse"}
    assert policies.faulty["bad"].startswith("spec.mutations: ")


def test_of_a_workload_the_template_is_changed_first() -> None:
    template = GOOD | {"applyTo": "template"}
    policies = snapshot_of({"a": GOOD, "b": template, "c": GOOD})
    assert [policy.name for policy in policies.for_pods] == ["a", "c"]
    assert [policy.name for policy in policies.for_manifest("Deployment")] == ["b", "a", "c"]
    assert policies.for_manifest("Pod") == policies.for_pods


def test_there_is_an_end_to_them() -> None:
    policies = snapshot_of({f"{number:05}": GOOD for number in range(MOST + 1)})
    assert len(policies.sound) == MOST
    assert policies.faulty == {f"{MOST:05}": f"more than {MOST} policies: merge some"}
