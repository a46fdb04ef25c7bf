"""Whose an edit is that a placeholder has made: of the policy that has written it, or of nobody but its token."""

import pytest
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.plan_tokens import tokens_for
from nemutator_controller.policies.plans import plan

from tests.controller.mutations.test_placeholders import TOKENS, pod, situation

OWN = [{"key": "nemu_label_value_team", "value": "own"}]
TEAM, KEY = "nemu_label_value_team", "nemu_label_team"


def policy(name: str = "p", **more: object) -> Policy:
    mutations = [{"labels": {"set": {"team": TEAM}}}]
    return policy_of(name, {"mode": "Apply", "mutations": mutations, **more})


def test_a_placeholder_of_a_policy_is_the_policys_edit_and_names_its_token() -> None:
    [edit] = plan(pod(), situation(), [policy()]).edits
    assert (edit.policy, edit.verb, edit.after) == ("p", "labels", ("shop",))
    assert edit.reason == f"token {TEAM}"


def test_a_token_that_a_policy_brings_is_named_with_it() -> None:
    mutations = [{"annotations": {"set": {"a": "b"}}}]
    [edit, _] = plan(
        pod(), situation(), [policy("a"), policy("b", tokens=OWN, mutations=mutations)]
    ).edits
    assert (edit.policy, edit.after) == ("a", ("own",))
    assert edit.reason == f"token {TEAM} of policy b"


def test_a_placeholder_of_the_pods_author_is_nobodys_but_its_tokens() -> None:
    [edit] = plan(
        pod({"team": TEAM}), situation(), [policy(mutations=[{"annotations": {"remove": ["x"]}}])]
    ).edits
    assert (edit.policy, edit.reason) == ("tokens", f"token {TEAM}")


@pytest.mark.parametrize(
    "mutation",
    [
        {"labels": {"add": {KEY: TEAM}}},
        {"annotations": {"set": {"nemu_anno_owner": "nemu_anno_value_owner"}}},
        {"env": {"set": [{"name": "URL", "value": "nemu_url"}]}},
    ],
)
def test_so_is_each_kind_of_placeholder(mutation: object) -> None:
    manifest = pod(variables={"URL": "x"} if "env" in str(mutation) else None)
    [edit] = plan(manifest, situation(), [policy(mutations=[mutation])]).edits
    assert edit.policy == "p"


def test_what_a_later_policy_writes_over_says_so_still() -> None:
    first = policy("a", mutations=[{"labels": {"set": {"team": "x"}}}])
    [edit] = plan(pod(), situation(), [first, policy("b")]).edits
    assert (edit.policy, edit.reason) == ("b", f"token {TEAM}; in place of what policy a writes")


def test_without_tokens_of_its_own_a_plan_has_those_of_the_store() -> None:
    store = KnownTokens(TOKENS)
    assert tokens_for([policy()], store) is store
    assert tokens_for([policy()], None) is None
    found = tokens_for([policy(tokens=OWN)], None)
    assert found is not None
    assert found.values[TEAM] == "own"
