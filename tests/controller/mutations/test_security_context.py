"""Defaults of security fill gaps, and make no pod that would be refused."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.security_context import SecurityDefaults, apply, faults


def defaulted(spec: Any, **fields: Any) -> tuple[Any, list[str]]:
    draft = Draft({"spec": spec}, "Pod")
    warnings = apply(draft, msgspec.convert(fields, SecurityDefaults), policy="p")
    return draft.manifest["spec"], warnings


def app(**context: Any) -> Any:
    return {"containers": [{"name": "app", "securityContext": context}]}


def test_gaps_are_filled_and_what_is_said_stays() -> None:
    spec, warnings = defaulted(
        {"securityContext": {"runAsUser": 7}, **app(readOnlyRootFilesystem=False)},
        pod={"runAsUser": 1000, "fsGroup": 5, "seccompProfile": {"type": "RuntimeDefault"}},
        container={"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
    )
    assert warnings == []
    assert spec["securityContext"] == {
        "runAsUser": 7,
        "fsGroup": 5,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    [container] = spec["containers"]
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": False,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("nothing", [{}, {"add": [], "drop": None}, None])
def test_what_is_there_and_empty_is_a_gap(nothing: Any) -> None:
    drop: Any = {"capabilities": {"drop": ["ALL"]}}
    made, warnings = defaulted(app(capabilities=nothing), container=drop)
    assert (made["containers"][0]["securityContext"], warnings) == (drop, [])
    said = app(capabilities={"add": ["NET_BIND_SERVICE"]})
    assert defaulted(said, container=drop) == (said, [])


def test_a_container_gets_no_default_over_what_its_pod_says() -> None:
    spec = {"securityContext": {"runAsUser": 7}, "containers": [{"name": "app"}]}
    assert defaulted(spec, container={"runAsUser": 1000}) == (spec, [])


@pytest.mark.parametrize(
    ("spec", "fields", "why"),
    [
        (app(runAsUser=0), {"container": {"runAsNonRoot": True}}, "runAsUser is 0"),
        (app(runAsUser=0), {"pod": {"runAsNonRoot": True}}, "containers[name=app] is for root"),
        (app(runAsNonRoot=True), {"container": {"runAsUser": 0}}, "runAsNonRoot is true"),
        (
            app(privileged=True),
            {"container": {"allowPrivilegeEscalation": False}},
            "it is privileged",
        ),
        (
            app(capabilities={"add": [3, "SYS_ADMIN"]}),
            {"container": {"allowPrivilegeEscalation": False}},
            "it has the capability SYS_ADMIN",
        ),
        (
            app(allowPrivilegeEscalation=False),
            {"container": {"privileged": True}},
            "allowPrivilegeEscalation is false",
        ),
        (
            {**app(), "os": {"name": "windows"}},
            {"container": {"privileged": False}},
            "this is a pod for Windows",
        ),
    ],
)
def test_what_would_be_refused_is_left_alone(spec: Any, fields: Any, why: str) -> None:
    done, [warning] = defaulted(spec, **fields)
    assert done == spec
    assert warning.endswith(f"left alone: {why}")


@pytest.mark.parametrize("fields", [{}, {"pod": {}}, {"container": {}}])
def test_what_asks_for_nothing_is_a_fault(fields: Any) -> None:
    assert len(list(faults(msgspec.convert(fields, SecurityDefaults)))) == 1
