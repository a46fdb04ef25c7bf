"""A pod of a real kubelet, profiled by its uid: all its containers, and nobody else."""

import asyncio
import os
import signal

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
from tests.testbed.running.waiting import until

HZ = 99
PATIENCE_S = 120.0
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


async def test_what_restarts_in_a_pod_meanwhile_is_in_its_profile(
    cluster: Cluster, node: Node, image: ImageStore, namespace: str
) -> None:
    cluster.apply(sleeping("ends", namespace, containers=[container(name="a", command=BUSY)]))
    wait_ready(cluster, namespace, "pod/ends")
    uid = cluster.kubectl(
        "get", "pod", "ends", f"--namespace={namespace}", "-o", "jsonpath={.metadata.uid}"
    )
    (first,) = node.pids_of(uid, "a")
    targets = MachineTargets(KnownGroups())
    resolved = await targets.resolve(ProfileTarget("pod", uid))
    sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
    await asyncio.to_thread(until_used, first, 0.5)
    os.kill(first, signal.SIGTERM)

    def runs_again() -> bool:
        # By what kubelet says: while a container starts, what makes it is in its control group, too.
        state = "{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].started}"
        asked = ("get", "pod", "ends", f"--namespace={namespace}", "-o", f"jsonpath={state}")
        return cluster.kubectl(*asked) == "1 true"

    await asyncio.to_thread(until, runs_again, "the container has restarted", within_s=PATIENCE_S)
    (second,) = node.pids_of(uid, "a")
    await asyncio.to_thread(until_used, second, 0.5)
    seen = {one.task[0] for one in await sampling.drain()}
    samples = await sampling.stop()
    assert {first, second} <= seen
    assert {first, second} <= {row.tgid for row in samples.rows}
    labels = await targets.labels_of([second])
    assert dict(labels[second])["pod"] == uid
