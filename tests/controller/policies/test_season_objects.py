import msgspec
from nemutator_controller.policies.season_objects import SEASON_POLICIES


def test_a_policy_is_read_with_its_conditions_and_without_the_rest() -> None:
    document = (
        b'{"kind": "SeasonPolicy", "metadata": {"name": "p"}, "spec": {"x": 1},'
        b' "status": {"conditions": [{"type": "InForce", "status": "True"}], "other": 1}}'
    )
    found = msgspec.json.decode(document, type=SEASON_POLICIES.shape)
    assert (found.spec, found.status.conditions[0].status) == ({"x": 1}, "True")
    assert SEASON_POLICIES.path("", "p", "status") == (
        "/apis/nemutator.io/v1alpha1/seasonpolicies/p/status"
    )
