"""A reference goes where nemutator-exec finds it, or the placeholder stays."""

from typing import Any

import pytest
from msgspec.structs import replace
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits, reversed_edits
from nemutator_controller.mutations.exec_commands import PROGRAM
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.policies.plans import MutationPlan, Situation, plan

from tests.controller.mutations.pods import Json, pruned, whys

REFERENCE = "secret/shop/db#password"
OTHER = "secret/shop/db#user"
TOKENS = {"nemu_env_db": REFERENCE, "nemu_env_user": OTHER, "nemu_env_bad": "clear text"}
DECLARED = "nemutator.io/env.DB"
SITUATION = Situation(
    subject=Subject(api_version="v1", kind="Pod", namespace="default", name="web"),
    namespace_labels={"nemutator.io/inject": "enabled"},
    injector=Injector("agent:1"),
    tokens=KnownTokens(TOKENS),
)


def container(
    name: str = "app", command: Json = ("serve",), /, **variables: str
) -> dict[str, Json]:
    env = [{"name": key, "value": value} for key, value in variables.items()]
    return {"name": name, "command": command and list(command), "env": env}


def pod(*containers: Json, **annotations: str) -> Json:
    words = {f"nemutator.io/{key}": value for key, value in annotations.items()}
    return {"metadata": {"annotations": words}, "spec": {"containers": list(containers)}}


def made(manifest: Json, planned: MutationPlan) -> Json:
    return apply_edits(manifest, planned.edits, "Pod")


def test_a_reference_is_declared_and_the_variable_leaves_the_spec() -> None:
    manifest = pod(container("app", ("serve",), DB="nemu_env_db", PORT="80"))
    planned = plan(manifest, SITUATION, [])
    result = made(manifest, planned)
    [app] = result["spec"]["containers"]
    assert app["env"] == [{"name": "PORT", "value": "80"}]
    assert app["command"] == [PROGRAM, "--", "serve"]
    assert result["metadata"]["annotations"] == {DECLARED: REFERENCE}
    attributes = result["spec"]["volumes"][0]["csi"]["volumeAttributes"]
    assert attributes["env.DB"] == REFERENCE
    assert whys(planned) == ()
    assert plan(result, SITUATION, []).edits == ()
    back = apply_edits(result, reversed_edits(planned.edits), "Pod")
    # A variable that comes back goes last.
    for each in (back, manifest):
        each["spec"]["containers"][0]["env"].sort(key=str)
    assert pruned(back) == pruned(manifest)


def test_two_containers_can_share_one_reference() -> None:
    manifest = pod(container("a", DB="nemu_env_db"), container("b", DB="nemu_env_db"))
    result = made(manifest, plan(manifest, SITUATION, []))
    assert [each.get("env") for each in result["spec"]["containers"]] == [None, None]


@pytest.mark.parametrize(
    "changed", [{"namespace_labels": {}}, {"injector": None}, {"namespace_labels": None}]
)
def test_in_a_pod_that_is_not_injected_it_stays(changed: Any) -> None:
    manifest = pod(container(DB="nemu_env_db"))
    planned = plan(manifest, replace(SITUATION, **changed), [])
    assert (planned.edits, whys(planned)) == ((), ("not_injected",))


def variables(planned: MutationPlan, manifest: Json) -> dict[str, list[str]]:
    """By container, the names of what is left in its spec."""
    return {
        each["name"]: [one["name"] for one in each.get("env") or ()]
        for each in made(manifest, planned)["spec"]["containers"]
    }


def test_in_a_container_without_a_command_it_stays() -> None:
    manifest = pod(container("a", DB="nemu_env_db"), container("b", None, DB="nemu_env_db"))
    planned = plan(manifest, SITUATION, [])
    assert variables(planned, manifest) == {"a": [], "b": ["DB"]}
    assert whys(planned) == ("not_injected",)


@pytest.mark.parametrize("own", ["plain", "nemu_env_user"])
def test_a_variable_of_another_container_is_not_replaced_by_it(own: str) -> None:
    manifest = pod(container("a", DB="nemu_env_db"), container("b", DB=own))
    planned = plan(manifest, SITUATION, [])
    assert variables(planned, manifest) == {"a": ["DB"], "b": ["DB"]}
    assert set(whys(planned)) == {"unfit"}
    assert DECLARED not in made(manifest, planned)["metadata"]["annotations"]


def test_what_the_pod_declares_itself_counts() -> None:
    same = pod(container(DB="nemu_env_db"), **{"env.DB": REFERENCE})
    assert variables(plan(same, SITUATION, []), same) == {"app": []}
    other = pod(container(DB="nemu_env_db"), **{"env.DB": OTHER})
    planned = plan(other, SITUATION, [])
    assert (variables(planned, other), whys(planned)) == ({"app": ["DB"]}, ("unfit",))


@pytest.mark.parametrize(
    ("token", "why"), [("nemu_env_bad", "unfit"), ("nemu_env_none", "unknown")]
)
def test_what_is_no_reference_never_reaches_a_pod(token: str, why: str) -> None:
    manifest = pod(container(DB=token))
    planned = plan(manifest, SITUATION, [])
    assert whys(planned) == (why,)
    assert variables(planned, manifest) == {"app": ["DB"]}
    assert "clear text" not in str((planned.edits, planned.warnings))


def test_what_was_taken_back_stays() -> None:
    manifest = pod(container(DB="nemu_env_db"))
    for path in (f"metadata.annotations[{DECLARED}]", "containers[name=app].env[name=DB]"):
        planned = plan(manifest, replace(SITUATION, reversed=frozenset({path})), [])
        assert whys(planned) == ("kept",)
        assert variables(planned, manifest) == {"app": ["DB"]}


@pytest.mark.parametrize("verb", ["env", "containers"])
def test_verbs_that_a_pod_does_not_want_leave_it(verb: str) -> None:
    manifest = pod(container(DB="nemu_env_db"), **{"skip-mutation": verb})
    planned = plan(manifest, SITUATION, [])
    assert variables(planned, manifest) == {"app": ["DB"]}


def test_a_volume_that_somebody_has_written_must_declare_it() -> None:
    manifest = pod(container(DB="nemu_env_db"))
    manifest["spec"]["volumes"] = [{"name": "s", "csi": {"driver": "agent.nemutator.io"}}]
    planned = plan(manifest, SITUATION, [])
    assert whys(planned) == ("not_injected",)


@pytest.mark.parametrize(
    "user",
    [
        {"env": [{"name": "URL", "value": "pg://app:$(DB)@db/"}]},
        {"args": ["--password=$(DB)"]},
    ],
)
def test_what_kubelet_is_to_write_elsewhere_stays_a_placeholder(user: Json) -> None:
    app = container("app", ("serve",), DB="nemu_env_db")
    planned = plan(pod(app | user | {"env": app["env"] + user.get("env", [])}), SITUATION, [])
    assert whys(planned) == ("unfit",)
    assert not any(edit.path.endswith("env[name=DB]") for edit in planned.edits)
    # Where nobody does, it comes from Vault as ever.
    assert whys(plan(pod(app), SITUATION, [])) == ()
