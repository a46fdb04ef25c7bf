"""Sidecars are added once, as init containers that are restarted always, as an API server stores them."""

import pytest
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import Json
from nemutator_controller.mutations.sidecars import (
    Sidecar,
    SidecarMount,
    Sidecars,
    SidecarVariable,
    apply,
    faults,
    without_volumes,
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
        (
            Sidecar(name="a", image=" proxy:1"),
            "add[0].image: ' proxy:1': expected registry/repository:tag@digest",
        ),
        (
            Sidecar(
                name="a",
                image="x",
                volume_mounts=(SidecarMount(name="b", mount_path="/c"),) * 2,
            ),
            "add[0].volumeMounts: two have the same mountPath",
        ),
    ],
)
def test_what_cannot_run_is_a_fault(sidecar: Sidecar, fault: str) -> None:
    assert list(faults(Sidecars(add=(sidecar,)))) == [fault]


def test_two_of_one_name_are_a_fault() -> None:
    two = Sidecars(add=(PROXY, Sidecar(name="other", image="x"), PROXY))
    assert list(faults(two)) == [f"add[{at}].name: there are two of that name" for at in (0, 2)]


@pytest.mark.parametrize("volumes", [[], None, [{"name": "data", "emptyDir": {}}]])
def test_one_that_mounts_what_the_pod_has_not_got_is_taken_out_again(volumes: Json) -> None:
    pod = {"spec": {"containers": [{"name": "app"}], "volumes": volumes}}
    draft = Draft(pod, "Pod")
    apply(draft, Sidecars(add=(PROXY,)), policy="p")
    draft.set(parse_path("initContainers[name=proxy].image"), "proxy:2", Author("image", "q"))
    warnings = without_volumes(draft)
    if volumes:
        assert (len(draft.edits()), warnings) == (1, [])
    else:
        assert draft.edits() == ()
        assert draft.manifest == pod
        assert warnings == [
            "policy p: initContainers[name=proxy]: left alone: the pod has no volume data"
        ]


def test_what_somebody_else_has_put_there_is_not_looked_at() -> None:
    own = {"name": "own", "volumeMounts": [{"name": "none", "mountPath": "/a"}]}
    draft = Draft({"spec": {"initContainers": [own, {"name": 1}, 1]}}, "Pod")
    assert without_volumes(draft) == []
