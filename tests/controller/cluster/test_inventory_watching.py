import asyncio

from nemutator_common.secret import Secret
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_controller.cluster.inventory_watching import ObjectsWatch
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import DEPLOYMENTS
from nemutator_controller.kube.transport import HttpTransport

from tests.contract.kube.waiting import until
from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


async def test_what_is_there_is_seen_and_a_missing_definition_is_no_error() -> None:
    async with FakeKube() as kube:
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "shop"}})
        kube.store.put(
            kinds.NODES,
            {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4"}}},
        )
        for kind in (kinds.DISRUPTION_BUDGETS, kinds.AUTOSCALERS, kinds.SERVICES):
            kube.store.put(kind, {"metadata": {"name": "web", "namespace": "shop"}})
        access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
        async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
            process = fake_process(clock=SystemClock(), meter=MemoryMeter(), roll=0.0)
            deployments = Informer(DEPLOYMENTS, transport=transport, process=process)
            watch = ObjectsWatch(transport, process, {"Deployment": deployments})
            assert "nodes" in watch.snapshot().unlisted
            supervisor, stop = Supervisor(), asyncio.Event()
            for name, body in watch.tasks().items():
                supervisor.add(name, body)
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                group.create_task(supervisor.run(stop))

                async def all_listed() -> bool:
                    return watch.snapshot().unlisted == ("Deployment",)

                await until(all_listed, "everything but what nobody watches is listed")
                found = watch.snapshot()
                assert found.nodes["/n1"].status.allocatable == {"cpu": "4"}
                for objects in (found.disruption_budgets, found.autoscalers, found.services):
                    assert list(objects) == ["shop/web"]
                assert not found.vertical_autoscalers
                assert not found.workloads["Deployment"]
                stop.set()
