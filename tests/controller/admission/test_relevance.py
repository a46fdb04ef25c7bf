"""A pod that is left unread is one that a plan has nothing to do with."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.relevance import is_relevant
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.policies.plans import MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import snapshot_of

LABELS = {"labels": {"set": {"seen": "yes"}}}
POLICIES = snapshot_of(
    {
        "by-label": {"match": {"podSelector": {"matchLabels": {"a": "1"}}}, "mutations": [LABELS]},
        "by-name": {"match": {"names": ["web*"]}, "mode": "Apply", "mutations": [LABELS]},
        "by-namespace": {
            "match": {"namespaceSelector": {"matchLabels": {"team": "a"}}},
            "mutations": [LABELS],
        },
    }
).for_pods

words = st.sampled_from(["", "1", "a", "true", "enabled", "required", "patch nonsense", "{}"])
keys = st.sampled_from(
    [
        "a",
        "nemutator.io/inject",
        "nemutator.io/skip",
        "nemutator.io/skip-mutation",
        "nemutator.io/mutation",
        "nemutator.io/secret.db",
    ]
)
maps: st.SearchStrategy[Any] = st.dictionaries(keys, words | st.integers(), max_size=3)
maps = maps | st.none() | st.just([])
metadata = st.fixed_dictionaries({}, optional={"labels": maps, "annotations": maps})
heads = st.fixed_dictionaries({"metadata": st.none() | st.just(7) | metadata})
situations = st.builds(
    Situation,
    subject=st.builds(
        Subject,
        api_version=st.just("v1"), kind=st.just("Pod"), namespace=st.just("shop"),
        name=st.sampled_from(["", "web"]), generate_name=st.sampled_from(["", "db-"]),
        owner_name=st.sampled_from(["", "web", "db"]),
    ),
    namespace_labels=st.none() | st.dictionaries(
        st.sampled_from(["team", "nemutator.io/inject"]), words, max_size=2
    ),
    injector=st.none() | st.just(Injector("agent:1")),
)  # fmt: skip


@given(heads, situations)
def test_what_is_no_concern_gets_an_empty_plan(head: dict[str, Any], situation: Situation) -> None:
    if is_relevant(head, situation, POLICIES):
        return
    manifest = head | {"spec": {"containers": [{"name": "app", "resources": {}}]}}
    if not all(isinstance(text, str) for text in texts_in(head["metadata"])):
        # An API server lets nothing such come this far.
        with pytest.raises(PathError):
            plan(manifest, situation, POLICIES)
    else:
        assert plan(manifest, situation, POLICIES) == MutationPlan()


def texts_in(metadata: Any) -> Iterator[object]:
    for field in ("labels", "annotations"):
        yield from ((metadata or {}).get(field) or {}).values()


@pytest.mark.parametrize(
    ("head", "labels", "wanted"),
    [
        ({"metadata": None}, {}, False),
        ({"metadata": {"labels": {"b": "1"}}}, {"team": "b"}, False),
        ({"metadata": {"labels": {"a": "1"}}}, {}, True),
        ({"metadata": {}}, {"team": "a"}, True),
        ({"metadata": {}}, {"nemutator.io/inject": "enabled"}, True),
        ({"metadata": {"labels": {"nemutator.io/inject": "required"}}}, {}, True),
    ],
)
def test_most_pods_are_nobodys_business(head: Any, labels: dict[str, str], wanted: bool) -> None:
    subject = Subject(api_version="v1", kind="Pod", namespace="shop", name="db")
    situation = Situation(subject=subject, namespace_labels=labels)
    assert is_relevant(head, situation, POLICIES) is wanted


def test_what_is_not_shaped_like_metadata_is_left_to_the_plan_to_refuse() -> None:
    situation = Situation(subject=Subject(api_version="v1", kind="Pod", namespace="x", name="db"))
    for broken in (7, {"labels": [1]}, {"annotations": "x"}):
        assert is_relevant({"metadata": broken}, situation, ())
        with pytest.raises((PathError, AttributeError)):
            plan({"metadata": broken}, situation, ())
