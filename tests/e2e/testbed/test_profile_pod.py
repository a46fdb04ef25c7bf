"""A pod of a real kubelet, profiled by its uid: all its containers, and nobody else."""

import asyncio

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.profiler.cpu_time import spent
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.usage.group_names import SHORT_ID
from nemutator_common.wire import ProfileTarget

from tests.contract.profiler.busy import AGREES, until_used
from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node

HZ = 99
BUSY = ["sh", "-c", "trap 'exit 0' TERM; while :; do :; done"]


async def test_a_pod_is_profiled_with_all_its_containers(
    cluster: Cluster, node: Node, image: ImageStore, namespace: str
) -> None:
    for name in ("target", "other"):
        pod = sleeping(
            name,
            namespace,
            containers=[container(name="a", command=BUSY), container(name="b", command=BUSY)],
        )
        cluster.apply(pod)
    uids = {}
    for name in ("target", "other"):
        wait_ready(cluster, namespace, f"pod/{name}")
        uids[name] = cluster.kubectl(
            "get", "pod", name, f"--namespace={namespace}", "-o", "jsonpath={.metadata.uid}"
        )
    inside = {one: node.pids_of(uids["target"], one) for one in ("a", "b")}
    outside = node.pids_of(uids["other"], "a") | node.pids_of(uids["other"], "b")

    targets = MachineTargets(KnownGroups())
    resolved = await targets.resolve(ProfileTarget("pod", uids["target"]))
    assert {*inside["a"], *inside["b"]} <= {*resolved.processes}
    assert not outside & {*resolved.processes}
    sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
    before = resolved.cpu_seconds()
    (pid,) = inside["a"]
    labels = dict((await targets.labels_of([pid]))[pid])
    assert (labels["pid"], labels["pod"]) == (str(pid), uids["target"])
    assert len(labels["container"]) == SHORT_ID
    await asyncio.to_thread(until_used, pid, 1)
    used = spent(before, resolved.cpu_seconds())
    samples = await sampling.stop()
    print(
        f"selected by {resolved.selection.by} {resolved.selection.controller} "
        f"recorded={samples.recorded} lost={samples.lost} cpu_seconds={used}"
    )
    assert {row.tgid for row in samples.rows} == {*inside["a"], *inside["b"]}
    assert samples.lost == {}
    assert used is not None
    assert abs(samples.recorded / HZ / used - 1) < AGREES
