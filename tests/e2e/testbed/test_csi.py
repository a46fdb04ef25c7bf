"""A CSI driver in a container registers with kubelet, and what it mounts reaches other pods."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

DRIVER = "show.testbed.nemutator.io"
IMAGE = "localhost/testbed/csi-driver:1"
FOLDER = Path(__file__).parent / "csi_driver"

# A Dockerfile that was never built on this machine: a minute; later ones come out of the cache.
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def driver(cluster: Cluster, node: Node, image: ImageStore, namespace: str) -> Iterator[str]:
    """The driver in a privileged pod; the name of that pod."""
    image.from_dockerfile(FOLDER, FOLDER / "Dockerfile", IMAGE)
    cluster.apply(_csi_driver(), _driver_pod(node, namespace))
    wait_ready(cluster, namespace, "pod/driver")
    yield "driver"
    cluster.kubectl("delete", "csidriver", DRIVER)


def _csi_driver() -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {
            "attachRequired": False,
            "podInfoOnMount": True,
            "volumeLifecycleModes": ["Ephemeral"],
            "tokenRequests": [{"audience": "testbed", "expirationSeconds": 3600}],
            "serviceAccountTokenInSecrets": True,
            "requiresRepublish": True,
        },
    }


def _driver_pod(node: Node, namespace: str) -> dict[str, Any]:
    root = str(node.kubelet_root)
    mount = {"name": "kubelet", "mountPath": root, "mountPropagation": "Bidirectional"}
    privileged = {
        "name": "driver",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "args": [DRIVER, root],
        "securityContext": {"privileged": True},
        "volumeMounts": [mount],
    }
    volume = {"name": "kubelet", "hostPath": {"path": root}}
    return sleeping("driver", namespace, containers=[privileged], volumes=[volume], hostPID=True)


def _consumer(namespace: str) -> dict[str, Any]:
    volume = {
        "name": "shown",
        "csi": {"driver": DRIVER, "readOnly": True, "volumeAttributes": {"declared": "by the pod"}},
    }
    mounting = container(volumeMounts=[{"name": "shown", "mountPath": "/shown"}])
    return sleeping("consumer", namespace, containers=[mounting], volumes=[volume])


def test_kubelet_tells_the_driver_which_pod_it_is(
    cluster: Cluster, driver: str, namespace: str
) -> None:
    where = f"--namespace={namespace}"

    def logs() -> str:
        return cluster.kubectl("logs", driver, where)

    def shown(file: str) -> Any:
        return json.loads(cluster.kubectl("exec", "consumer", where, "--", "cat", f"/shown/{file}"))

    until(lambda: "has registered" in logs(), "kubelet has registered it", within_s=60)
    cluster.apply(_consumer(namespace))
    wait_ready(cluster, namespace, "pod/consumer")
    uid = cluster.get("pod", "consumer", where)["metadata"]["uid"]
    context = shown("context.json")
    assert context["csi.storage.k8s.io/pod.uid"] == uid
    assert context["csi.storage.k8s.io/pod.name"] == "consumer"
    assert context["csi.storage.k8s.io/pod.namespace"] == namespace
    assert context["csi.storage.k8s.io/serviceAccount.name"] == "default"
    assert context["declared"] == "by the pod"
    claims = shown("claims.json")["testbed"]
    assert claims["aud"] == ["testbed"]
    assert claims["kubernetes.io"]["pod"] == {"name": "consumer", "uid": uid}
    cluster.kubectl("delete", "pod", "consumer", where, within_s=60)
    until(lambda: "unpublished" in logs(), "it was unpublished", within_s=60)
