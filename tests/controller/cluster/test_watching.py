import asyncio

from nemutator_common.readiness import Readiness
from nemutator_common.secret import Secret
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_controller.cluster.pods import PodOwner
from nemutator_controller.cluster.watching import PART, ClusterWatch
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


async def test_what_a_node_names_is_found_as_soon_as_everything_is_listed() -> None:
    async with FakeKube() as kube:
        kube.store.put(
            kinds.REPLICA_SETS,
            {
                "metadata": {
                    "name": "web-abc",
                    "namespace": "shop",
                    "uid": "rs1",
                    "ownerReferences": [
                        {"kind": "Deployment", "name": "web", "uid": "d", "controller": True}
                    ],
                }
            },
        )
        owner = {
            "kind": "ReplicaSet",
            "name": "web-abc",
            "uid": "rs1",
            "controller": True,
        }
        kube.store.put(
            kinds.PODS,
            {
                "metadata": {
                    "name": "web-1",
                    "namespace": "shop",
                    "uid": "u1",
                    "ownerReferences": [owner],
                },
                "spec": {"nodeName": "n1", "containers": [{"name": "app"}]},
                "status": {
                    "containerStatuses": [{"name": "app", "containerID": "containerd://c1"}]
                },
            },
        )
        uid = "u1"
        readiness, stop = Readiness(), asyncio.Event()
        access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
        async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
            watch = ClusterWatch(
                transport,
                process=fake_process(
                    clock=SystemClock(), meter=MemoryMeter(), readiness=readiness, roll=0.0
                ),
            )
            assert watch.of("n1", uid, "c1") is None
            assert watch.namespace_of("n1", uid) is None
            assert PART in readiness.problems()
            supervisor = Supervisor()
            for name, body in watch.tasks().items():
                supervisor.add(name, body)
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                group.create_task(supervisor.run(stop))
                for informer in (watch.pods, watch.replica_sets, watch.jobs):
                    await informer.synced()
                placed = watch.of("n1", uid, "c1")
                assert placed is not None
                assert (placed.pod, placed.container) == ("web-1", "app")
                assert placed.owner == PodOwner("Deployment", "web")
                assert watch.namespace_of("n1", uid) == placed.namespace
                assert watch.of("n2", uid, "c1") is None
                assert watch.namespace_of("n2", uid) is None
                stop.set()
