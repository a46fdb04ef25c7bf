"""Who is injected, and what those hear who are not."""

import pytest
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.policies.plans import MutationPlan, plan

from tests.controller.mutations.pods import Json
from tests.controller.policies.planning import ENABLED, INIT, paths, pod, policy, situation


@pytest.mark.parametrize(
    ("namespace", "own", "expected"),
    [
        (None, None, False),
        ({}, None, False),
        (ENABLED, None, True),
        (ENABLED, "disabled", False),
        (ENABLED, "nonsense", False),
        ({}, "enabled", True),
        (None, "required", True),
    ],
)
def test_who_is_injected(namespace: Json, own: str | None, expected: bool) -> None:
    manifest = pod(None if own is None else {"nemutator.io/inject": own})
    planned = plan(manifest, situation(namespace_labels=namespace), [])
    assert (INIT in paths(planned)) is expected


def test_outside_of_a_cluster_nothing_is_injected() -> None:
    assert plan(pod(ENABLED), situation(injector=None), []) == MutationPlan()


def test_who_requires_what_cannot_be_done_is_refused_and_others_are_warned() -> None:
    declared = {"nemutator.io/secret.a": "nonsense"}
    planned = plan(pod(ENABLED, declared), situation(), [])
    assert (planned.edits, planned.refused) == ((), "")
    assert planned.warnings[0].startswith("not injected: annotations: secret.a")
    refused = plan(pod({"nemutator.io/inject": "required"}, declared), situation(), [])
    assert refused.refused.startswith("nemutator.io/inject=required, and this pod cannot be")


def test_a_pod_with_a_kernel_of_its_own_is_named_with_what_to_do() -> None:
    handlers = {"untrusted": "runsc", "kata-like": "runc"}
    known = situation(runtime_handler=handlers.get)
    manifest = pod(ENABLED)
    manifest["spec"]["runtimeClassName"] = "untrusted"
    planned = plan(manifest, known, [])
    assert planned.edits == ()
    assert planned.warnings[0].startswith(
        "not injected: runtimeClassName 'untrusted', whose handler"
    )
    required = pod({"nemutator.io/inject": "required"})
    required["spec"]["runtimeClassName"] = "kata-qemu"
    assert "is Kata Containers: " in plan(required, known, []).refused
    manifest["spec"]["runtimeClassName"] = "kata-like"
    assert INIT in paths(plan(manifest, known, []))
    manifest["spec"]["runtimeClassName"] = 7
    with pytest.raises(PathError):
        plan(manifest, known, [])


def test_of_an_injection_that_was_taken_back_nothing_is_left() -> None:
    # A mount for a container that came later would be one of a volume that is not there.
    taken_back = situation(reversed=frozenset({"volumes[name=nemutator]"}))
    planned = plan(pod(ENABLED), taken_back, [])
    assert planned.edits == ()
    assert planned.warnings == ("not injected: somebody has taken that back for this workload",)
    required = plan(pod({"nemutator.io/inject": "required"}), taken_back, [])
    assert "taken that back" in required.refused


def test_the_init_container_asks_for_what_policies_made_of_the_pod() -> None:
    half = policy("a", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}})
    planned = plan(pod(ENABLED), situation(), [half])
    [init] = [each.after[0] for each in planned.edits if each.path == INIT]
    assert init["resources"] == {"requests": {"cpu": "500m"}}
