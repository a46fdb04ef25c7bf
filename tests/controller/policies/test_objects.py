"""Policies as they come from an API server."""

import msgspec
from nemutator_controller.policies.objects import MUTATION_POLICIES, PolicyObject


def test_a_policy_comes_with_whatever_spec_it_has_and_what_was_said_of_it() -> None:
    said = {"type": "Ready", "status": "False", "observedGeneration": 3, "message": "x"}
    other = {"type": "Odd", "status": "Unknown"}
    document = {
        "metadata": {"name": "p", "generation": 3},
        "spec": ["nonsense"],
        "status": {"conditions": [other, said]},
    }
    policy = msgspec.json.decode(msgspec.json.encode(document), type=MUTATION_POLICIES.shape)
    assert policy.spec == ["nonsense"]
    assert policy.ready is not None
    assert (policy.ready.status, policy.ready.observed_generation) == ("False", 3)
    assert PolicyObject(metadata=policy.metadata).ready is None
