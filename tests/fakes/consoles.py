"""The console of a cluster on a real listener over TLS; who asks, and what they may, is a test's."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.addresses import TcpAddress
from nemutator_common.serving.tls import TlsFiles
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import Envelope
from nemutator_controller.app.console import cluster_console
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.endpoint import InventoryApi
from nemutator_controller.inventory.model import ContainerName, UseLevels
from nemutator_controller.inventory.taking import CountedMachine
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.endpoint import MutationsApi
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.settings.brain import BrainSettings

from tests.certificates import Authority
from tests.fakes.decisions import POD, changed_pod, decision
from tests.fakes.inventory import FixedRequests
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reports import report
from tests.fakes.reviews import MemoryReviews


@dataclass
class StandingConsole:
    port: int
    ca_file: Path
    reviews: MemoryReviews
    objects: MemoryObjects
    meter: MemoryMeter

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"


class NoLevels:
    """The `KnownLevels` of a brain that has just begun."""

    async def now(self) -> Mapping[ContainerName, UseLevels]:
        return {}


@contextlib.asynccontextmanager
async def standing_console(folder: Path) -> AsyncIterator[StandingConsole]:
    """With one node, and one mutation "d1" of one pod; nobody may anything yet."""
    authority = Authority("nemutator")
    leaf = authority.server("localhost")
    files = {"ca.crt": authority.certificate, "tls.crt": leaf.certificate, "tls.key": leaf.key}
    for name, content in files.items():
        (folder / name).write_text(content)
    reviews, objects, meter, clock = MemoryReviews(), MemoryObjects(), MemoryMeter(), SystemClock()
    objects.place(POD, changed_pod())
    journal = MemoryJournal()
    await journal.add([decision()], writer="a", state="observed")
    numbers = itertools.count()
    rolling_back = RollingBack(
        journal,
        objects,
        replicas=AdmissionReplicas(expected=False, process=fake_process(clock=clock)),
        fresh=lambda: f"v{next(numbers)}",
        process=fake_process(clock=clock),
    )
    nodes = Nodes(most=10)
    nodes.see("edge-1", "epoch", Envelope(1, report(clock.now())), now=clock.now())
    process = fake_process(clock=clock, meter=meter)
    settings = BrainSettings(cluster_console="127.0.0.1:0")
    inventory = InventoryApi(
        CountedMachine(nodes, NoLevels(), FixedRequests(), asyncio.to_thread, clock),
        nodes.all,
        lambda: 15,
        in_cluster=False,
        process=process,
    )
    routes = [
        *inventory.routes(),
        *TopologyApi(nodes, stale_after_s=lambda: 15, process=fake_process(clock=clock)).routes(),
        *MutationsApi(journal, rolling_back, process=fake_process(meter=meter)).routes(),
    ]
    tls = TlsFiles(folder / "tls.crt", folder / "tls.key")
    server = cluster_console(settings, reviews, routes, tls, process)
    await server.bind()
    assert isinstance(server.address, TcpAddress)
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.run())
            yield StandingConsole(server.address.port, folder / "ca.crt", reviews, objects, meter)
            serving.cancel()
    finally:
        server.close()
