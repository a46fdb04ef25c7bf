"""A policy has another revision when its content is another one."""

from nemutator_controller.journal.revisions import is_outdated, revision_of

from tests.fakes.decisions import kept


def test_the_order_of_keys_makes_no_difference_and_values_do() -> None:
    assert revision_of({"a": 1, "b": 2}) == revision_of({"b": 2, "a": 1})
    assert revision_of({"a": 1}) != revision_of({"a": 2})
    assert len(revision_of(None)) == 32


def test_only_a_change_of_the_same_policy_counts() -> None:
    one = kept(policy="p", revision="r1")
    assert not is_outdated(one, {"p": "r1", "q": "r2"})
    assert not is_outdated(one, {})
    assert not is_outdated(kept(policy="p"), {"p": "r1"})
    assert is_outdated(one, {"p": "r2"})
