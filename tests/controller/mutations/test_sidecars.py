"""Sidecars are added once, as init containers that are restarted always, as an API server stores them."""

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import Json
from nemutator_controller.mutations.sidecars import (
    Sidecar,
    SidecarMount,
    Sidecars,
    SidecarVariable,
    apply,
    faults,
)

PROXY = Sidecar(
    name="proxy",
    image="proxy:1",
    args=("-v",),
    env=(SidecarVariable(name="LOG", value="info"), SidecarVariable(name="EMPTY", value="")),
    requests={"cpu": "10m"},
    limits={"memory": "64Mi"},
    volume_mounts=(SidecarMount(name="data", mount_path="/data"),),
)
STORED = {
    "name": "proxy",
    "image": "proxy:1",
    "restartPolicy": "Always",
    "args": ["-v"],
    "env": [{"name": "LOG", "value": "info"}, {"name": "EMPTY"}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "resources": {
        "requests": {"memory": "64Mi", "cpu": "10m"},
        "limits": {"memory": "64Mi"},
    },
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def test_a_sidecar_is_added_where_there_is_none_of_its_name_and_before_what_is_there() -> None:
    spec = {"containers": [{"name": "app"}], "initContainers": [{"name": "first"}]}
    draft = Draft({"spec": spec}, "Pod")
    second = Sidecar(name="second", image="x")
    apply(draft, Sidecars(add=(PROXY, second, Sidecar(name="app", image="x"))), policy="p")
    made = draft.manifest["spec"]
    assert made["containers"] == [{"name": "app"}]
    assert [each["name"] for each in made["initContainers"]] == ["proxy", "second", "first"]
    assert made["initContainers"][0] == STORED
    again = draft.further()
    apply(again, Sidecars(add=(PROXY,)), policy="p")
    assert again.edits() == ()


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"requests": {"cpu": "1010m"}, "limits": {"memory": "64Mi"}}, ""),
        ({"requests": {"cpu": "1"}}, "the pod's own request has 1 left for requests.cpu, not 1010m"),
        ({"limits": {"memory": "63Mi"}}, "the pod's own limit: of memory, its limit is too large"),
    ],
)  # fmt: skip
def test_a_sidecar_for_which_the_pod_itself_has_no_room_would_have_it_refused(
    own: Json, why: str
) -> None:
    app = {"name": "app", "resources": {"requests": {"cpu": "1"}}}
    draft = Draft({"spec": {"resources": own, "containers": [app]}}, "Pod")
    warnings = apply(draft, Sidecars(add=(PROXY,)), policy="p")
    place = "initContainers[name=proxy]"
    assert warnings == ([f"policy p: {place}: left alone: {why}"] if why else [])
    assert [edit.path for edit in draft.edits()] == ([] if why else [place])


@pytest.mark.parametrize(
    ("image", "expected"),
    [("a", "Always"), ("a:latest", "Always"), ("a:1", "IfNotPresent"), ("A b", "IfNotPresent")],
)
def test_an_image_is_pulled_as_an_api_server_says(image: str, expected: str) -> None:
    assert Sidecar(name="a", image=image).in_a_pod()["imagePullPolicy"] == expected


@pytest.mark.parametrize(
    ("sidecar", "fault"),
    [
        (
            Sidecar(name=INIT_CONTAINER, image="x"),
            "add[0].name: nemutator-init is nemutator's own",
        ),
        (
            Sidecar(name="a", image="x", requests={"cpu": "2"}, limits={"cpu": "1"}),
            "add[0].requests.cpu: above its limit",
        ),
    ],
)
def test_what_cannot_run_is_a_fault(sidecar: Sidecar, fault: str) -> None:
    assert list(faults(Sidecars(add=(sidecar,)))) == [fault]
