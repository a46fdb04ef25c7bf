"""The class that kubelet will give a pod."""

import pytest
from nemutator_controller.kube.quantities import LONGEST, parse_quantity
from nemutator_controller.mutations.qos import class_of, quantity

from tests.controller.mutations.pods import Json

FULL = {"cpu": "1", "memory": "1Gi"}


def pod(*resources: Json, init: Json = None) -> Json:
    containers = [{"name": str(n), "resources": each} for n, each in enumerate(resources)]
    spec: Json = {"containers": containers}
    if init is not None:
        spec["initContainers"] = [{"name": "i", "resources": init}]
    return {"spec": spec}


def whole(resources: Json) -> Json:
    manifest = pod({"requests": {"cpu": "1m"}})
    manifest["spec"]["resources"] = resources
    return manifest


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (whole({"limits": FULL}), "Guaranteed"),
        (whole({"limits": FULL, "requests": {"cpu": "500m"}}), "Burstable"),
        (whole({"requests": {"cpu": "1"}}), "Burstable"),
        (whole({"requests": {"hugepages-2Mi": "2Mi"}}), "BestEffort"),
        (whole({}), "Burstable"),
    ],
)
def test_what_a_pod_has_for_all_containers_counts_alone(manifest: Json, expected: str) -> None:
    assert class_of(manifest, "Pod") == expected


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (pod({}), "BestEffort"),
        (pod(None), "BestEffort"),
        (pod({"requests": {"cpu": "0"}}), "BestEffort"),
        (pod({"requests": {"nvidia.com/gpu": "1"}}), "BestEffort"),
        (pod({"requests": {"cpu": "1m"}}), "Burstable"),
        (pod({"limits": FULL}), "Guaranteed"),
        (pod({"limits": FULL, "requests": {"cpu": "1000m", "memory": "1024Mi"}}), "Guaranteed"),
        (pod({"limits": FULL, "requests": {"cpu": "500m"}}), "Burstable"),
        (pod({"limits": FULL}, {}), "Burstable"),
        (pod({"limits": FULL}, init={}), "Burstable"),
        (pod({"limits": FULL}, init={"limits": FULL}), "Guaranteed"),
        (pod({"limits": {"cpu": "1"}}), "Burstable"),
    ],
)
def test_classes_are_kubelets(manifest: Json, expected: str) -> None:
    assert class_of(manifest, "Pod") == expected


@pytest.mark.parametrize("nonsense", [None, True, {}, [], "much", ""])
def test_what_is_no_amount_is_none(nonsense: Json) -> None:
    assert quantity(nonsense) is None


def test_manifests_may_have_numbers() -> None:
    assert quantity(1) == parse_quantity("1")
    assert quantity(0.5) == parse_quantity("500m")


def test_an_amount_may_be_as_long_as_any_is_read() -> None:
    longest = "1".rjust(LONGEST, "0")
    assert quantity(longest) == parse_quantity("1")
    assert quantity("0" + longest) is None
