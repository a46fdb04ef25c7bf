"""A pod gets its socket and its init container, for free and within the restricted standard."""

from typing import Any

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.injection import (
    NOBODY,
    Injector,
    NotInjectedError,
    apply,
)
from nemutator_controller.mutations.qos import class_of

from tests.controller.mutations.pods import Json

INJECTOR = Injector("nemutator/agent:1")
MOUNT = {"name": "nemutator", "mountPath": "/run/nemutator", "readOnly": True}


def pod(*containers: Json, annotations: Json = None, **spec: Any) -> Json:
    listed = list(containers) or [{"name": "app"}]
    return {"metadata": {"annotations": annotations}, "spec": {"containers": listed, **spec}}


def injected(manifest: Json) -> Json:
    draft = Draft(manifest, "Pod")
    apply(draft, INJECTOR)
    return draft.manifest["spec"]


def init_of(manifest: Json) -> Json:
    return injected(manifest)["initContainers"][0]


def test_everybody_mounts_it_and_only_the_first_may_write() -> None:
    spec = injected(
        pod({"name": "a"}, {"name": "b", "volumeMounts": []}, initContainers=[{"name": "i"}])
    )
    assert [each["volumeMounts"] for each in spec["containers"]] == [[MOUNT], [MOUNT]]
    first, second = spec["initContainers"]
    assert (first["name"], second["name"]) == ("nemutator-init", "i")
    assert first["volumeMounts"] == [{"name": "nemutator", "mountPath": "/run/nemutator"}]
    assert second["volumeMounts"] == [MOUNT]
    assert spec["volumes"] == [{"name": "nemutator", "csi": {"driver": "agent.nemutator.io"}}]


def test_what_is_declared_goes_into_the_volume() -> None:
    annotations = {
        "nemutator.io/secret.db": "secret/app/db#password",
        "nemutator.io/vault-role": "app",
        "nemutator.io/vault-namespace": "team-a/web",
        "other/manifest": "x",
    }
    manifest = pod(
        {"name": "a", "securityContext": {"runAsUser": 1000}},
        annotations=annotations,
        securityContext={"runAsUser": 1, "fsGroup": 2000},
    )
    assert injected(manifest)["volumes"][0]["csi"]["volumeAttributes"] == {
        "secret.db": "secret/app/db#password",
        "vault-role": "app",
        "vault-namespace": "team-a/web",
        "run-as-user": "1000",
        "fs-group": "2000",
    }


FILE = {"nemutator.io/secret.db": "secret/app/db#password"}


def test_a_groups_number_goes_with_it_and_the_first_container_is_in_the_group() -> None:
    manifest = pod(
        {"name": "a", "securityContext": {"runAsGroup": 3000}},
        {"name": "b", "securityContext": {"runAsGroup": 3000}},
        annotations=FILE,
        securityContext={"runAsGroup": 1},
    )
    spec = injected(manifest)
    assert spec["volumes"][0]["csi"]["volumeAttributes"]["run-as-group"] == "3000"
    assert spec["initContainers"][0]["securityContext"]["runAsGroup"] == 3000
    manifest["spec"]["containers"].pop()
    manifest["spec"]["containers"][0].pop("securityContext")
    assert "runAsGroup" not in init_of(manifest)["securityContext"], "it has the pod's"


@pytest.mark.parametrize(
    ("contexts", "pods", "readers"),
    [
        (({"runAsUser": 5}, {"runAsUser": 6}), {}, "all of the pod's processes"),
        (({"runAsUser": 5}, {}), {}, "all of the pod's processes"),
        (({"runAsUser": 5}, {}), {"runAsUser": 6, "fsGroup": 7}, "group 7"),
        (({"runAsUser": 5}, {"runAsUser": 6}), {"runAsGroup": 8}, "group 8"),
    ],
)
def test_whoever_makes_a_pod_of_several_users_hears_who_can_read_its_files(
    contexts: tuple[Json, Json], pods: Json, readers: str
) -> None:
    containers = [
        {"name": name, "securityContext": context}
        for name, context in zip("ab", contexts, strict=True)
    ]
    draft = Draft(pod(*containers, annotations=FILE, securityContext=pods), "Pod")
    [warning] = apply(draft, INJECTOR)
    assert f"readable for {readers}, because" in warning
    assert "(a: 5, b: " in warning
    assert "with one runAsUser for all of them" in warning


@pytest.mark.parametrize("annotations", [FILE, {"nemutator.io/env.X": "secret/a#b"}])
def test_a_pod_of_one_user_or_without_files_hears_nothing(annotations: Json) -> None:
    containers: list[Json] = [{"name": name, "command": ["x"]} for name in "ab"]
    if annotations is not FILE:
        containers[0]["securityContext"] = {"runAsUser": 5}
    draft = Draft(pod(*containers, annotations=annotations), "Pod")
    assert apply(draft, INJECTOR) == []


VARIABLE = {"nemutator.io/env.TOKEN": "secret/app#t"}
EXEC = "/run/nemutator-exec"


def test_a_container_with_a_command_is_started_with_its_variables() -> None:
    spec = injected(
        pod({"name": "a", "command": ["run", "x"], "args": ["y"]}, annotations=VARIABLE)
    )
    [container] = spec["containers"]
    program = f"{EXEC}/nemutator-exec"
    assert (container["command"], container["args"]) == ([program, "--", "run", "x"], ["y"])
    mount = {"name": "nemutator-exec", "mountPath": EXEC}
    assert container["volumeMounts"] == [MOUNT, mount | {"readOnly": True}]
    [init] = spec["initContainers"]
    assert init["args"] == ["nemutator_init", "--exec-to", EXEC]
    assert init["volumeMounts"][1] == mount
    [volume] = [each for each in spec["volumes"] if each["name"] == "nemutator-exec"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Mi"}


@pytest.mark.parametrize("skipped", [(), ("env",)])
def test_without_a_container_to_start_nothing_is_added_for_it(skipped: tuple[str, ...]) -> None:
    container = {"name": "a"} | ({"command": ["x"]} if skipped else {})
    draft = Draft(pod(container, annotations=VARIABLE), "Pod")
    warnings = apply(draft, INJECTOR, skipped)
    assert EXEC not in str(draft.manifest)
    assert bool(warnings) is not bool(skipped)


def test_a_program_that_was_taken_back_is_not_what_starts_a_container() -> None:
    manifest = pod({"name": "a", "command": ["x"]}, annotations=VARIABLE)
    for path in ("volumes[name=nemutator-exec]", "containers[name=a].command"):
        draft = Draft(manifest, "Pod", leave=frozenset({path}))
        apply(draft, INJECTOR)
        assert draft.manifest["spec"]["containers"][0]["command"] == ["x"]
    mount = "containers[name=a].volumeMounts[mountPath=/run/nemutator-exec]"
    draft = Draft(manifest, "Pod", leave=frozenset({mount}))
    apply(draft, INJECTOR)
    assert draft.manifest["spec"]["containers"][0]["command"] == ["x"]


def test_again_changes_nothing() -> None:
    annotations = {"nemutator.io/secret.a": "s/x"} | VARIABLE
    started = {"name": "a", "command": ["x"]}
    draft = Draft(pod(started, annotations=annotations, initContainers=[]), "Pod")
    apply(draft, INJECTOR)
    again = Draft(draft.manifest, "Pod")
    apply(again, INJECTOR)
    assert again.edits() == ()


def test_the_init_container_passes_the_restricted_standard() -> None:
    context = init_of(pod())["securityContext"]
    assert context == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "runAsUser": NOBODY,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize(
    ("pod_user", "own_user", "expected"),
    [
        (None, None, NOBODY),
        (0, None, NOBODY),
        (1000, None, None),
        (None, 1000, 1000),
        (1000, 2000, 2000),
        (NOBODY, None, None),
    ],
)
def test_it_runs_as_the_pod_does_but_never_as_root(
    pod_user: int | None, own_user: int | None, expected: int | None
) -> None:
    container: Json = {"name": "a"}
    if own_user is not None:
        container["securityContext"] = {"runAsUser": own_user}
    spec = {} if pod_user is None else {"securityContext": {"runAsUser": pod_user}}
    assert init_of(pod(container, **spec))["securityContext"].get("runAsUser") == expected


@pytest.mark.parametrize(
    ("users", "expected"),
    [([None], None), ([5, 5], 5), ([5, 6], None), ([5, None], None), ([True], None), (["5"], None)],
)
def test_a_uid_is_one_that_all_containers_agree_on(users: list[Any], expected: int | None) -> None:
    containers = [
        {"name": str(n), "securityContext": {} if user is None else {"runAsUser": user}}
        for n, user in enumerate(users)
    ]
    driver = injected(pod(*containers))["volumes"][0]["csi"]
    assert driver.get("volumeAttributes", {}).get("run-as-user") == (expected and str(expected))


@pytest.mark.parametrize(
    "resources",
    [
        {},
        {"requests": {"cpu": "1"}},
        {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
        {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
    ],
)
def test_it_costs_nothing_and_leaves_the_class_alone(resources: Json) -> None:
    gpu = {side: amounts | {"nvidia.com/gpu": "1"} for side, amounts in resources.items()}
    manifest = pod({"name": "a", "resources": gpu})
    spec = injected(manifest)
    assert spec["initContainers"][0].get("resources", {}) == resources
    assert class_of({"spec": spec}, "Pod") == class_of(manifest, "Pod")


def test_it_asks_for_what_the_largest_container_may_use() -> None:
    small = {"name": "a", "resources": {"limits": {"memory": "16Mi"}}}
    large = {"name": "b", "resources": {"limits": {"memory": "64Mi"}}}
    assert init_of(pod(small, large))["resources"] == {"limits": {"memory": "64Mi"}}


def test_a_volume_that_somebody_wrote_by_hand_is_used() -> None:
    volume = {
        "name": "mine",
        "csi": {"driver": "agent.nemutator.io", "volumeAttributes": {"a": "b"}},
    }
    spec = injected(pod(volumes=[volume]))
    assert spec["volumes"] == [volume]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "mine"


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (pod(volumes=[{"name": "nemutator", "emptyDir": {}}]), "is something else"),
        (
            pod({"name": "a", "volumeMounts": [{"name": "x", "mountPath": "/run/nemutator/"}]}),
            r"is taken in containers\[name=a\]",
        ),
        (pod(annotations={"nemutator.io/secret.a": "nonsense"}), "secret.a: expected mount/path"),
        (pod(os={"name": "windows"}), "for Linux pods only"),
        (pod(nodeSelector={"kubernetes.io/os": "windows"}), "for Linux pods only"),
        (
            pod({"name": "a", "volumeMounts": [{"name": "x", "mountPath": "//run//nemutator/./"}]}),
            r"is taken in containers\[name=a\]",
        ),
        (
            pod(
                {
                    "name": "a",
                    "volumeMounts": [{"name": "x", "mountPath": "/run/nemutator/secrets"}],
                }
            ),
            r"is taken in containers\[name=a\]",
        ),
        (pod({"name": "nemutator-init"}), r"containers\[name=nemutator-init\] is something else"),
        (
            pod(initContainers=[{"name": "nemutator-init", "image": "busybox", "args": ["true"]}]),
            r"initContainers\[name=nemutator-init\] is something else",
        ),
        (
            pod(annotations={"nemutator.io/on-rotate": "signal:HUP@web"}),
            "on-rotate: no container 'web'",
        ),
        (
            pod(annotations={"nemutator.io/vault-namespace": "team-a/../b"}),
            "vault-namespace: expected a namespace of Vault",
        ),
        ({"spec": {}}, "no containers"),
        ({"spec": {"containers": "x"}}, "no containers"),
    ],
)
def test_what_cannot_be_injected_says_why_and_is_not_touched(manifest: Json, why: str) -> None:
    draft = Draft(manifest, "Pod")
    with pytest.raises(NotInjectedError, match=why):
        apply(draft, INJECTOR)
    assert draft.edits() == ()


def test_a_neighbour_of_our_place_is_nobodys_business() -> None:
    beside = {"name": "x", "mountPath": "/run/nemutator-of-mine"}
    spec = injected(pod({"name": "a", "volumeMounts": [beside]}, volumes=[{"name": "x"}]))
    assert spec["containers"][0]["volumeMounts"] == [beside, MOUNT]


def test_a_sidecar_mounts_it_too_and_starts_after_ours() -> None:
    sidecar = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    first, second = injected(pod(initContainers=[sidecar]))["initContainers"]
    assert first["name"] == "nemutator-init"
    assert second == sidecar | {"volumeMounts": [MOUNT]}
