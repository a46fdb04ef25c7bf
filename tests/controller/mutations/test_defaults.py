"""Requests that follow from limits, and other defaults, as the API server adds them."""

import copy

import pytest
from hypothesis import given
from nemutator_controller.mutations.defaults import defaulted

from tests.controller.mutations.pods import Json, manifests


def pod(resources: Json, field: str = "containers") -> Json:
    return {"metadata": {"name": "web"}, "spec": {field: [{"name": "app", "resources": resources}]}}


def resources_of(manifest: Json, field: str = "containers") -> Json:
    return manifest["spec"][field][0]["resources"]


def test_a_limit_without_a_request_becomes_one() -> None:
    limits = {"cpu": "2", "memory": "1Gi", "example.com/gpu": "1"}
    asked = {"limits": limits, "requests": {"cpu": "1"}}
    made = resources_of(defaulted(pod(asked), "Pod"))
    assert made["requests"] == {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"}
    assert made["limits"] == limits


def test_init_containers_and_templates_have_it_too() -> None:
    made = defaulted(pod({"limits": {"cpu": "2"}}, "initContainers"), "Pod")
    assert resources_of(made, "initContainers")["requests"] == {"cpu": "2"}
    deployment = {"spec": {"template": pod({"limits": {"cpu": "2"}})}}
    made = defaulted(deployment, "Deployment")
    assert resources_of(made["spec"]["template"])["requests"] == {"cpu": "2"}


@pytest.mark.parametrize(
    ("written", "stored"),
    [("100u", "1m"), ("1500u", "2m"), ("1e-4", "1e-3"), ("0.0001Gi", "107374183m"), ("1500m", "1500m"), (0.0001, "1m")],
)  # fmt: skip
def test_what_is_finer_than_a_thousandth_is_rounded_up(written: Json, stored: Json) -> None:
    made = resources_of(defaulted(pod({"limits": {"cpu": written}}), "Pod"))
    assert made == {"limits": {"cpu": stored}, "requests": {"cpu": stored}}


def test_a_volume_of_no_kind_is_an_empty_one() -> None:
    volumes: Json = [{"name": "a"}, {"name": "b", "emptyDir": None}, {"name": "c", "secret": {}}, 1]
    made = defaulted({"spec": {"volumes": volumes}}, "Pod")["spec"]["volumes"]
    assert made == [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}, *volumes[2:]]


def test_what_has_no_limits_gets_no_requests_and_what_is_no_pod_nothing() -> None:
    for resources in ({"requests": {"cpu": "1"}}, {}, None):
        assert resources_of(defaulted(pod(resources), "Pod")) == resources
    no_pods: list[Json] = [{}, {"spec": None}, {"spec": []}, {"metadata": {"name": "web"}}]
    for manifest in no_pods:
        assert defaulted(manifest, "Pod") is manifest


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("host:5000/nginx", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("nginx@sha256:" + "a" * 64, "IfNotPresent"),
        ("not an image", "IfNotPresent"),
    ],
)
def test_images_without_a_version_are_always_pulled(image: str, policy: str) -> None:
    manifest = {"spec": {"containers": [{"name": "app", "image": image}]}}
    [container] = defaulted(manifest, "Pod")["spec"]["containers"]
    assert container["imagePullPolicy"] == policy


def test_what_its_author_has_said_stays() -> None:
    said = {
        "dnsPolicy": "None",
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "schedulerName": "mine",
        "serviceAccountName": "bot",
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "app", "image": "a", "imagePullPolicy": "Never"}],
    }
    made = defaulted({"spec": said}, "Pod")["spec"]
    assert {name: made[name] for name in said if name != "containers"} == {
        name: value for name, value in said.items() if name != "containers"
    }
    assert made["containers"][0]["imagePullPolicy"] == "Never"


@given(manifests())
def test_the_manifest_itself_is_left_alone_and_a_second_time_changes_nothing(given: Json) -> None:
    kind, manifest = given
    before = copy.deepcopy(manifest)
    once = defaulted(manifest, kind)
    assert manifest == before
    assert defaulted(once, kind) == once
