"""The API server that the suite runs on: the fake one alone, until the testbed has a real one.

A behaviour that the real server shows differently is a mistake of the fake. There is no variant for
the real server yet, so none is skipped: the end of the run says which one it was.
"""

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_common.backoff import Backoff
from nemutator_common.kube.budget import WriteBudget
from nemutator_common.kube.configuration import Access, Fixed
from nemutator_common.kube.informing import Informer, Pace
from nemutator_common.kube.objects import Pod
from nemutator_common.kube.reading import Reader
from nemutator_common.kube.resources import PODS
from nemutator_common.kube.transport import HttpTransport
from nemutator_common.kube.writing import Writer
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock

from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """At the end and not in the header, which `-q` leaves out."""
    ours = Path(__file__).parent.name
    if any(
        f"contract/{ours}/" in report.nodeid for report in terminalreporter.getreports("passed")
    ):
        terminalreporter.write_line(
            "contract of the Kubernetes API: ran on the fake server alone (there is no testbed yet)"
        )


@pytest.fixture
async def server() -> AsyncIterator[FakeKube]:
    async with FakeKube() as kube:
        yield kube


@dataclass
class Client:
    """One of our clients with everything that it is made of."""

    transport: HttpTransport
    meter: MemoryMeter

    @property
    def read(self) -> Reader:
        return Reader(self.transport)

    @property
    def write(self) -> Writer:
        clock = SystemClock()
        return Writer(self.transport, WriteBudget(clock), clock)

    def pods(self) -> Informer[Pod]:
        return Informer(
            PODS,
            transport=self.transport,
            clock=SystemClock(),
            meter=self.meter,
            roll=random.random,
            pace=Pace(backoff=Backoff(first_s=0.02, longest_s=0.1)),
        )


def access(server: FakeKube, token: str = "") -> Access:
    return Access(
        server=server.url, ca=server.ca_file.read_text(), token=Secret(token or server.token)
    )


@pytest.fixture
async def client(server: FakeKube) -> AsyncIterator[Client]:
    meter = MemoryMeter()
    async with HttpTransport(Fixed(access(server)), meter) as transport:
        yield Client(transport, meter)
