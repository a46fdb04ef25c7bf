"""The console of a cluster on a real listener over TLS; who asks, and what they may, is a test's."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.readiness import Readiness
from nemutator_common.secret import Secret
from nemutator_common.serving.addresses import TcpAddress
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.tls import TlsFiles
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import Envelope
from nemutator_controller.app.brain import CONSOLE_LIMITS
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.cluster_gate import ClusterGate
from nemutator_controller.console.pages import Pages
from nemutator_controller.console.people import People
from nemutator_controller.console.sessions import Sessions
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.endpoint import MutationsApi
from nemutator_controller.journal.rolling_back import RollingBack

from tests.certificates import Authority
from tests.fakes.brain_stores import MemorySessions
from tests.fakes.decisions import POD, changed_pod, decision
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.meters import MemoryMeter
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
        audience=AdmissionReplicas(expected=False, clock=clock),
        fresh=lambda: f"v{next(numbers)}",
        clock=clock,
    )
    nodes = Nodes(most=10)
    nodes.see("edge-1", "epoch", Envelope(1, report(clock.now())), now=clock.now())
    people = People(
        reviews, session_s=600, fresh=lambda: Secret(f"session-{next(numbers)}"), clock=clock
    )
    gate = ClusterGate(people, session_s=600, meter=meter)
    doorkeeper = Doorkeeper(
        Sessions(session_s=600), MemorySessions(), fresh=lambda: Secret("unused"), clock=clock
    )
    server = HttpServer(
        name="console",
        address=TcpAddress("127.0.0.1", 0),
        routes=[
            *TopologyApi(nodes, stale_after_s=lambda: 15, clock=clock).routes(),
            *MutationsApi(journal, rolling_back, meter=meter).routes(),
            *gate.routes(),
            *Pages(doorkeeper, _nowhere, session_s=600, meter=meter).files(),
        ],
        middlewares=[gate.admit],
        limits=CONSOLE_LIMITS,
        tls=TlsFiles(folder / "tls.crt", folder / "tls.key"),
        meter=meter,
        readiness=Readiness(),
        clock=clock,
    )
    await server.bind()
    assert isinstance(server.address, TcpAddress)
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.run())
            yield StandingConsole(server.address.port, folder / "ca.crt", reviews, objects, meter)
            serving.cancel()
    finally:
        server.close()


def _nowhere() -> TcpAddress:
    raise AssertionError("a cluster has no links")
