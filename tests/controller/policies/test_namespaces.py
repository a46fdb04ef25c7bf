"""Policies are chosen by namespace once, and others than those could not be for its pods."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.namespaces import MOST_KEPT, PoliciesByNamespace

globs = st.lists(st.sampled_from(["a", "b", "a*", "*", "?b", "[ab]"]), max_size=2)


def policy(name: str, **match: Any) -> Policy:
    spec = {"match": match, "mutations": [{"labels": {"set": {"a": "b"}}}]}
    return policy_of(name, spec)


@given(st.lists(st.tuples(globs, globs), max_size=4), st.sampled_from(["a", "b", "ab", "c"]))
def test_none_is_left_out_that_matches_a_pod_of_the_namespace(
    wanted: list[tuple[list[str], list[str]]], namespace: str
) -> None:
    policies = [
        policy(f"p{number}", namespaces=named, excludedNamespaces=excluded)
        for number, (named, excluded) in enumerate(wanted)
    ]
    pod = CandidatePod(namespace=namespace, namespace_labels={}, labels={}, names=("web",))
    by_namespace = PoliciesByNamespace(policies)
    expected = tuple(each for each in policies if matches(each, pod))
    assert by_namespace.of(namespace) == expected
    assert by_namespace.of(namespace) is by_namespace.of(namespace)


def test_namespaces_that_somebody_makes_up_are_not_kept_for_ever() -> None:
    by_namespace = PoliciesByNamespace([policy("a", namespaces=["x*"])])
    first = by_namespace.of("x")
    for number in range(MOST_KEPT):
        by_namespace.of(f"made-up-{number}")
    assert by_namespace.of("x") == first
    assert by_namespace.of("x") is not first
