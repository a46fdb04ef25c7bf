"""Policies are chosen by namespace once, and others than those could not be for its pods."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.namespaces import MOST_KEPT, PoliciesByNamespace, possible

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


selectors = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2),
        "matchExpressions": st.lists(
            st.fixed_dictionaries(
                {
                    "key": st.sampled_from("ab"),
                    "operator": st.sampled_from(["In", "NotIn"]),
                    "values": st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True),
                }
            )
            | st.fixed_dictionaries(
                {
                    "key": st.sampled_from("ab"),
                    "operator": st.sampled_from(["Exists", "DoesNotExist"]),
                }
            ),
            max_size=2,
        ),
    },
)


@given(
    st.lists(selectors, max_size=4),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3),
)
def test_none_is_left_out_that_the_labels_of_a_pod_allow(
    wanted: list[Any], labels: dict[str, str]
) -> None:
    policies = [policy(f"p{at}", podSelector=selector) for at, selector in enumerate(wanted)]
    pod = CandidatePod(namespace="a", namespace_labels={}, labels=labels, names=("web",))
    found = possible(PoliciesByNamespace(policies).of("a"), labels)
    assert [each for each in found if matches(each, pod)] == [
        each for each in policies if matches(each, pod)
    ]


def test_those_for_other_labels_cost_a_pod_nothing() -> None:
    others = [policy(f"o{n}", podSelector={"matchLabels": {"app": f"a{n}"}}) for n in range(9)]
    policies = PoliciesByNamespace([policy("a"), *others, policy("z")]).of("x")
    assert [each.name for each in policies.among({"app": "a3", "b": "c"})] == ["a", "o3", "z"]
    assert [each.name for each in policies.among({})] == ["a", "z"]


def test_namespaces_that_somebody_makes_up_are_not_kept_for_ever() -> None:
    by_namespace = PoliciesByNamespace([policy("a", namespaces=["x*"])])
    first = by_namespace.of("x")
    for number in range(MOST_KEPT):
        by_namespace.of(f"made-up-{number}")
    assert by_namespace.of("x") == first
    assert by_namespace.of("x") is not first
