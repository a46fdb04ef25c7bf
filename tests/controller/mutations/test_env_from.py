"""Whole ConfigMaps and Secrets are added to containers once."""

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.env_from import VariableSource, VariableSources, apply, faults


def test_what_a_container_has_is_not_added_again() -> None:
    own = {"configMapRef": {"name": "common", "optional": False}}
    containers = [{"name": "app", "envFrom": [own]}, {"name": "other"}]
    draft = Draft({"spec": {"containers": containers}}, "Pod")
    common = VariableSource(config_map="common")
    secret = VariableSource(secret="own", prefix="OWN_", optional=True)
    apply(draft, VariableSources(add=(common, secret)), policy="p")
    added = {"secretRef": {"name": "own", "optional": True}, "prefix": "OWN_"}
    [app, other] = draft.manifest["spec"]["containers"]
    assert app["envFrom"] == [own, added]
    assert other["envFrom"] == [{"configMapRef": {"name": "common"}}, added]


def test_one_policy_adds_the_same_source_once() -> None:
    draft = Draft({"spec": {"containers": [{"name": "app"}]}}, "Pod")
    common = VariableSource(config_map="common")
    again = VariableSource(config_map="common", optional=True)
    apply(draft, VariableSources(add=(common, again)), policy="p")
    [app] = draft.manifest["spec"]["containers"]
    assert app["envFrom"] == [{"configMapRef": {"name": "common"}}]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (VariableSource(), "add[0]: expected exactly one of configMap, secret"),
        (
            VariableSource(config_map="a", secret="b"),
            "add[0]: expected exactly one of configMap, secret",
        ),
        (
            VariableSource(config_map="A"),
            "add[0]: expected small letters, digits, dots and dashes",
        ),
    ],
)
def test_what_cannot_be_meant_is_a_fault(source: VariableSource, fault: str) -> None:
    assert list(faults(VariableSources(add=(source,)))) == [fault]
