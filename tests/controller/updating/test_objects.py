import msgspec
from nemutator_controller.updating.objects import SIZING_POLICIES


def test_a_policy_is_read_with_its_conditions_and_without_the_rest() -> None:
    document = (
        b'{"kind": "SizingPolicy", "metadata": {"name": "p"}, "spec": {"mode": 1},'
        b' "status": {"conditions": [{"type": "Given", "status": "True"}], "other": 1}}'
    )
    found = msgspec.json.decode(document, type=SIZING_POLICIES.shape)
    assert (found.spec, found.status.conditions[0].status) == ({"mode": 1}, "True")
    assert SIZING_POLICIES.path("", "p", "status") == (
        "/apis/nemutator.io/v1alpha1/sizingpolicies/p/status"
    )
