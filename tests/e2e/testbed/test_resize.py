"""In-place resize: kubelet changes the cgroup of a running container, and the container stays."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

MEBIBYTE = 1 << 20
# Files of a control group by version, with the same meaning in the order of `Limits`.
VERSION_1 = ("memory.limit_in_bytes", "cpu.cfs_quota_us", "cpu.shares")
VERSION_2 = ("memory.max", "cpu.max", "cpu.weight")


@dataclass(frozen=True, slots=True)
class Limits:
    memory: int
    quota_us: int
    """Of CPU time in each 100 ms."""
    share: int
    """In proportion to the request; the two versions count it in different units."""


def limits_of(node: Node, pod_uid: str) -> Limits:
    """What the kernel holds the container to, read on the machine itself."""
    groups = node.cgroups_of(pod_uid, "app")
    names = VERSION_2 if any((group / "memory.max").exists() for group in groups) else VERSION_1
    return Limits(*(first_number(groups, name) for name in names))


def first_number(groups: list[Path], name: str) -> int:
    (file,) = {path.resolve() for group in groups if (path := group / name).exists()}
    return int(file.read_text().split()[0])


def resources(cpu_request: str, memory_request: str, cpu: str, memory: str) -> dict[str, Any]:
    return {
        "requests": {"cpu": cpu_request, "memory": memory_request},
        "limits": {"cpu": cpu, "memory": memory},
    }


@pytest.mark.timeout(120)  # it may be the first that asks for the control plane and the node
def test_a_resize_reaches_the_cgroup_and_restarts_nothing(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    where = f"--namespace={namespace}"
    small = container(resources=resources("100m", "32Mi", "200m", "64Mi"))
    cluster.apply(sleeping("sized", namespace, containers=[small]))
    wait_ready(cluster, namespace, "pod/sized")
    uid = cluster.get("pod", "sized", where)["metadata"]["uid"]
    before, pids = limits_of(node, uid), node.pids_of(uid, "app")
    assert (before.memory, before.quota_us) == (64 * MEBIBYTE, 20_000)

    wanted = resources("150m", "48Mi", "300m", "96Mi")
    patch = {"spec": {"containers": [{"name": "app", "resources": wanted}]}}
    cluster.kubectl(
        "patch", "pod", "sized", where, "--subresource=resize", f"--patch={json.dumps(patch)}"
    )

    def shown() -> dict[str, Any]:
        (status,) = cluster.get("pod", "sized", where)["status"]["containerStatuses"]
        return dict(status)

    until(lambda: shown()["resources"] == wanted, "the status shows the new sizes", within_s=60)
    after = limits_of(node, uid)
    assert (after.memory, after.quota_us) == (96 * MEBIBYTE, 30_000)
    assert after.share > before.share
    assert shown()["restartCount"] == 0
    assert node.pids_of(uid, "app") == pids
