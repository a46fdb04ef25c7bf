"""Policies that have been followed for long make the same plans as if each pod were their first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.paths import template_of
from nemutator_controller.policies.plans import Situation, plan
from nemutator_controller.policies.snapshot import snapshot_of

from tests.controller.mutations.pods import Json, manifests

SPECS: dict[str, Json] = {
    "a-labels": {"mutations": [{"labels": {"set": {"team": "x"}, "add": {"tier": "y"}}}]},
    "b-some": {
        "match": {"podSelector": {"matchLabels": {"team": "shop"}}},
        "mutations": [{"annotations": {"set": {"a/b": "c"}, "remove": ["old"]}}],
    },
    "c-sizes": {
        "mutations": [
            {
                "resources": {
                    "requests": {
                        "cpu": {"ratio": 0.5, "min": "60m", "raiseLimit": True},
                        "memory": {"ratio": 0.8},
                    },
                    "limits": {"memory": {"ratio": 2, "max": "3Gi"}},
                }
            }
        ],
    },
    "d-sizes": {
        "match": {"podSelector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}},
        "mutations": [
            {
                "resources": {
                    "requests": {"cpu": {"ratioOfLimit": 0.7}, "memory": {"value": "10Mi"}},
                    "limits": {"cpu": {"value": "150m"}},
                    "qos": "Change",
                }
            }
        ],
    },
    "e-preview": {
        "mode": "Preview",
        "mutations": [{"resources": {"requests": {"cpu": {"ratio": 0.1}}}}],
    },
    "f-env": {
        "match": {"podSelector": {"matchLabels": {"team": "shop", "tier": "web"}}},
        "mutations": [{"env": {"set": [{"name": "A", "value": "b"}]}}],
    },
}
NAMED = {name: {"mode": "Apply"} | spec for name, spec in SPECS.items()}
IN_USE = snapshot_of(NAMED).for_pods_of("default")

sizes = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.sampled_from(["100m", "1", "64Mi", "2Gi", "0", "1e3", "a lot", 2]),
)


@st.composite
def pods(draw: st.DrawFn) -> tuple[str, Json]:
    kind, manifest = draw(manifests())
    template = template_of(manifest, kind)
    labels = {"team": ["shop", "x"], "tier": ["web"]}
    given_labels = st.fixed_dictionaries(
        {}, optional={key: st.sampled_from(texts) for key, texts in labels.items()}
    )
    template["metadata"]["labels"] = draw(given_labels)
    for each in template["spec"]["containers"]:
        sections = dict.fromkeys(("requests", "limits"), sizes)
        each["resources"] = draw(st.fixed_dictionaries({}, optional=sections))
    return kind, manifest


@pytest.mark.slow
@given(
    pods(),
    st.sampled_from(["", "enabled"]),
    st.sampled_from(
        [
            frozenset(),
            frozenset({"metadata.labels[team]", "containers[name=app].resources.requests.cpu"}),
        ]
    ),
)
def test_the_plan_is_that_of_new_policies(
    case: tuple[str, Json], inject: str, taken_back: frozenset[str]
) -> None:
    kind, manifest = case
    subject = Subject(api_version="v1", kind=kind, namespace="default", name="web")
    situation: Any = Situation(
        subject=subject,
        namespace_labels={"nemutator.io/inject": inject},
        injector=Injector("nemutator/agent:1"),
        reversed=taken_back,
    )
    new = tuple(snapshot_of(NAMED).for_pods)
    assert len(new) == len(IN_USE) == len(SPECS)
    expected = plan(manifest, situation, new)
    assert plan(manifest, situation, IN_USE) == expected
    assert plan(manifest, situation, IN_USE) == expected
