"""What is put up is what the policies' own code understands, and changes something."""

from nemutator_common import declarations
from nemutator_controller.policies.model import policy_from_document
from nemutator_ctl.up import furniture


def test_the_policy_has_no_fault_and_is_applied() -> None:
    policy = policy_from_document(furniture.POLICY)
    assert policy.spec.mode == "Apply"
    assert furniture.MANIFEST["metadata"]["namespace"] in policy.spec.match.namespaces


def test_the_secret_has_a_name_that_can_be_asked_for() -> None:
    assert declarations.is_name(furniture.SECRET)


POLICY = {"kind": "MutationPolicy", "namespace": "", "name": "sample-owners"}
SHOP = {"kind": "Deployment", "namespace": "sample", "name": "shop"}


def test_only_what_is_not_there_is_put_up() -> None:
    assert furniture.absent([]) == [furniture.POLICY, furniture.MANIFEST]
    assert furniture.absent([SHOP]) == [furniture.POLICY]
    assert furniture.absent([POLICY]) == [furniture.MANIFEST]
    assert furniture.absent([SHOP, POLICY]) == []


def test_what_only_shares_a_name_is_something_else() -> None:
    others = [SHOP | {"namespace": "default"}, SHOP | {"kind": "Pod"}, POLICY | {"name": "x"}]
    assert furniture.absent(others) == [furniture.POLICY, furniture.MANIFEST]
