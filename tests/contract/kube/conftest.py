"""The API servers that the suite runs on: the fake one, and with `make e2e` the testbed's real one.

A behaviour that the real server shows differently is a mistake of the fake. A test of what no real
server can be made to do is for the fake alone, and says why in its parametrisation.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from nemutator_common.backoff import Backoff
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call, asked
from nemutator_controller.kube.decoder import Decoder
from nemutator_controller.kube.informing import Informer, InformerPace
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import PODS, Resource
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.writing import Writer

from tests.contract.kube import variants
from tests.contract.kube.fake_place import FakePlace
from tests.contract.kube.places import Place, access
from tests.contract.kube.real_place import real_place
from tests.contract.kube.relay import Relay
from tests.contract.kube.variants import FAKE, REAL
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.parts.control_plane import Cluster

T = TypeVar("T", bound=Object)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """At the end and not in the header, which `-q` leaves out."""
    passed = [report.nodeid for report in terminalreporter.getreports("passed")]
    if told := variants.summary(passed):
        terminalreporter.write_line(told)


@pytest.fixture(params=[FAKE, REAL])
def variant(request: pytest.FixtureRequest) -> Cluster | None:
    """The real server; None stands for a fake of the test's own."""
    if request.param == "fake":
        return None
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster


@pytest.fixture
async def place(variant: Cluster | None) -> AsyncIterator[Place]:
    if variant is None:
        async with FakeKube() as kube:
            yield FakePlace(kube)
    else:
        async with real_place(variant) as place:
            yield place


@pytest.fixture
def kube(place: Place) -> FakeKube:
    """What a test for the fake alone may disturb."""
    assert isinstance(place, FakePlace)
    return place.kube


@dataclass
class Client:
    """One of our clients with everything that it is made of."""

    transport: Transport
    meter: MemoryMeter

    @property
    def read(self) -> Reader:
        return Reader(self.transport)

    @property
    def write(self) -> Writer:
        clock = SystemClock()
        return Writer(self.transport, WriteBudget(clock), clock)

    async def get(self, resource: Resource[T], namespace: str, name: str) -> T:
        return Decoder(resource.shape).object(await self.read.raw(resource, namespace, name))

    async def phase(self, namespace: str, pod: str) -> str:
        found = json.loads(await self.read.raw(PODS, namespace, pod))
        return str(found["status"]["phase"])

    async def delete(
        self, resource: Resource[Any], namespace: str, name: str, **preconditions: str
    ) -> None:
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
        call = Call(
            verb="delete",
            method="DELETE",
            path=resource.path(namespace, name),
            asked=asked("delete", resource, namespace),
            body=json.dumps(options).encode(),
        )
        await self.transport.send(call)

    async def version(self) -> str:
        call = Call(verb="get", method="GET", path="/version", asked="get /version")
        return str(json.loads(await self.transport.send(call))["gitVersion"])

    def informer(self, resource: Resource[T]) -> Informer[T]:
        return Informer(
            resource,
            transport=self.transport,
            process=fake_process(clock=SystemClock(), meter=self.meter),
            pace=InformerPace(backoff=Backoff(first_s=0.02, longest_s=0.1)),
        )


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    meter = MemoryMeter()
    async with HttpTransport(Fixed(access(place)), meter) as transport:
        yield Client(transport, meter)


@pytest.fixture
async def relay(place: Place) -> AsyncIterator[Relay]:
    async with Relay(place.url) as relay:
        yield relay


@pytest.fixture
async def relayed(place: Place, relay: Relay) -> AsyncIterator[Client]:
    """A client whose connections can be disturbed on their way."""
    meter = MemoryMeter()
    async with HttpTransport(Fixed(access(place, server=relay.url)), meter) as transport:
        yield Client(transport, meter)


@pytest.fixture
async def api(place: Place) -> AsyncIterator[Conversation]:
    """The administrator, without a client of ours."""
    async with Conversation(place) as api:
        yield api
