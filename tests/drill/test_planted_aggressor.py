"""A planted aggressor among the pods of a real kubelet is found, and bears its grade for as long as it is one.

A minute of neighbours takes eight seconds here, twice as long as an agent that looks twice a second takes from one reading of
what its containers waited to the next.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from nemutator_common import names

from tests.e2e.first_light.installation import (
    Installation,
    delete_namespaces,
    install,
    said,
    uninstall,
)
from tests.e2e.first_light.manifests import AGENT
from tests.e2e.first_light.team import only
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import NotInTimeError, until

# It builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(3000)

NAMESPACE = "neighbours"
WHERE = f"--namespace={NAMESPACE}"
MINUTE_S = 8
FOUND_S = 900
"""Twenty minutes have to be known, and chance ruled out; the more others do on the machine, the later."""

SERVES = """\
import time
while True:
    begun = time.monotonic()
    while time.monotonic() - begun < 0.03:
        pass
    time.sleep(0.07)
"""
"""A little work ten times a second, like a service."""

COMPETES = """\
import multiprocessing, os, random, time
def burst(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.path.exists("/tmp/quiet"):
        for _ in range(100_000):
            pass
dice = random.Random(18)
while True:
    seconds = dice.choice((8, 16, 24))
    several = [multiprocessing.Process(target=burst, args=(seconds,)) for _ in range(os.cpu_count())]
    for one in several:
        one.start()
    for one in several:
        one.join()
    time.sleep(dice.choice((8, 16, 24)))
"""
"""All processors in bursts, until it is told to be quiet."""


def deployment(name: str, code: str, cpu: str) -> dict[str, Any]:
    labels = {"app": name}
    container = {
        "name": "app",
        "image": AGENT,
        "imagePullPolicy": "Never",
        "command": ["python", "-c", code],
        # Of the processors they get in these shares what there is.
        "resources": {"requests": {"cpu": cpu, "memory": "32Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
            },
        },
    }


@pytest.fixture(scope="module")
def installation(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault
) -> Iterator[Installation]:
    yield install(
        cluster, node, image, vault, brain=f"neighbour_minute_s = {MINUTE_S}\n", look_s=0.5
    )
    uninstall(cluster)


@pytest.fixture
def token(installation: Installation) -> Iterator[str]:
    """Of somebody who may look."""
    cluster = installation.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster.kubectl("create", "serviceaccount", "viewer", WHERE)
    account = f"--serviceaccount={NAMESPACE}:viewer"
    cluster.kubectl(
        "create", "clusterrolebinding", "lookers", "--clusterrole=nemutator-viewer", account
    )
    yield cluster.token(NAMESPACE, "viewer")
    cluster.kubectl("delete", "clusterrolebinding", "lookers")
    delete_namespaces(cluster, NAMESPACE)


def test_labels_follow_a_planted_aggressor_and_its_victim(
    installation: Installation, token: str
) -> None:
    cluster = installation.cluster
    cluster.apply(deployment("web", SERVES, "20m"), deployment("batch", COMPETES, "800m"))
    for name in ("web", "batch"):
        cluster.kubectl("rollout", "status", f"deployment/{name}", WHERE, "--timeout=300s")

    def labels(kind: str, name: str) -> dict[str, str]:
        found = cluster.get(kind, f"--selector=app={name}", WHERE)["items"]
        bears: dict[str, str] = only(found)["metadata"].get("labels", {})
        return {key: value for key, value in bears.items() if key.startswith(names.DOMAIN)}

    def shown() -> str:
        return installation.nemutator("neighbours", token=token)

    def found() -> bool:
        return names.AGGRESSOR_NOW in labels("pods", "batch") and names.VICTIM_NOW in labels(
            "pods", "web"
        )

    try:
        until(found, "both bear their grades", within_s=FOUND_S)
    except NotInTimeError as late:
        raise AssertionError(f"{late}\n{shown()}\n{said(cluster)}") from late
    told = shown()
    print(told)
    assert "waits for a CPU" in told
    assert names.AGGRESSOR_NOW not in labels("pods", "web")
    assert labels("pods", "batch")[names.AGGRESSOR_NOW] in {"1", "2", "3", "4"}

    def workload() -> dict[str, Any]:
        manifest: dict[str, Any] = cluster.get("deployment", "batch", WHERE)
        return manifest

    until(
        lambda: names.AGGRESSOR_NOW in workload()["metadata"].get("labels", {}),
        "the workload bears it, too",
        within_s=FOUND_S,
    )
    # A label on the template would roll it.
    assert workload()["spec"]["template"]["metadata"]["labels"] == {"app": "batch"}
    assert workload()["metadata"]["generation"] == 1
    pods = json.loads(installation.nemutator("neighbours", "-o", "json", token=token))["items"]
    assert {("batch", "aggressor"), ("web", "victim")} <= {
        (one["owner"], role) for one in pods for role in ("aggressor", "victim") if one[role]["now"]
    }

    pod = only(cluster.get("pods", "--selector=app=batch", WHERE)["items"])["metadata"]["name"]
    cluster.kubectl("exec", pod, WHERE, "--", "touch", "/tmp/quiet")
    until(
        lambda: (
            names.AGGRESSOR_NOW not in labels("pods", "batch")
            and names.AGGRESSOR_NOW not in workload()["metadata"].get("labels", {})
        ),
        "what is an aggressor no longer bears no grade of now",
        within_s=FOUND_S,
    )
