"""`kubectl nemutator` through a real API server and kubelet, with the shipped role and no more.

The brain is a stand-in on the node's loopback; the pod whose port is forwarded shares the node's network.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.fakes.forwarding import ForwardingCluster, brain_alone
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.node import Node

MANIFEST = Path(__file__).parents[3] / "deploy" / "manifests" / "brain.yaml"
REACH = "nemutator-reach"
START = "import sys; from nemutator_ctl.__main__ import kubectl_plugin; sys.exit(kubectl_plugin())"


def lay_out(cluster: Cluster, namespace: str, port: int, authority: str) -> None:
    (role,) = (
        document
        for document in yaml.safe_load_all(MANIFEST.read_text())
        if document["metadata"]["name"] == REACH
    )
    role["metadata"]["namespace"] = namespace
    ports = [{"name": "console", "containerPort": port, "hostPort": port}]
    pod = sleeping(
        "nemutator-brain-0", namespace, hostNetwork=True, containers=[container(ports=ports)]
    )
    pod["metadata"]["labels"] = {
        "app.kubernetes.io/name": "nemutator",
        "app.kubernetes.io/component": "brain",
    }
    published = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "nemutator-ca", "namespace": namespace},
        "data": {"ca.crt": authority},
    }
    cluster.kubectl("create", "serviceaccount", "anna", f"--namespace={namespace}")
    cluster.apply(role, pod, published)


async def mutations(kubeconfig: Path, namespace: str) -> "subprocess.CompletedProcess[str]":
    def run() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", START, "mutations", "-o", "name"],
            env={
                "PATH": os.defpath,
                "KUBECONFIG": str(kubeconfig),
                "NEMUTATOR_CTL_INSTALLATION": namespace,
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return await asyncio.to_thread(run)


@pytest.mark.timeout(400)
async def test_a_person_with_the_shipped_role_reaches_the_brain(
    cluster: Cluster, node: Node, namespace: str, tmp_path: Path
) -> None:
    known = ForwardingCluster(authority=cluster.authority, url=cluster.url)
    async with brain_alone(known, namespace) as port:
        lay_out(cluster, namespace, port, known.of_brain.certificate)
        await asyncio.to_thread(wait_ready, cluster, namespace, "pod/nemutator-brain-0")
        token = cluster.token(namespace, "anna")
        kubeconfig = known.kubeconfig(tmp_path, token=token)

        refused = await mutations(kubeconfig, namespace)
        assert refused.returncode == 9
        assert "you may not" in refused.stderr

        cluster.kubectl(
            "create", "rolebinding", "anna-reach", f"--role={REACH}",
            f"--serviceaccount={namespace}:anna", f"--namespace={namespace}",
        )  # fmt: skip
        allowed = await mutations(kubeconfig, namespace)
        assert allowed.stdout == "m-1\nm-2\n", allowed.stderr
        assert known.seen == [("/api/v1/mutations?limit=50", f"Bearer {token}")]
