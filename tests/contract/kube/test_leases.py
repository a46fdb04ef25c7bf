"""The lease of brains: in memory, on the fake API server, and on the real one."""

from dataclasses import replace

import pytest
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.writing import Writer
from nemutator_controller.leasing.election import BrainLease, LeaseTakenError, LeaseUnavailableError
from nemutator_controller.leasing.kube_leases import KubeLease
from nemutator_controller.leasing.ports import LeaseStore

from tests.contract.kube.conftest import Client
from tests.contract.kube.places import Place, access
from tests.fakes.kube.configurations import Fixed
from tests.fakes.leases import MemoryLease
from tests.fakes.meters import MemoryMeter

NEW = BrainLease(
    "brain-0_a", acquired_at=1_700_000_000.25, renewed_at=1_700_000_001.5, transitions=0
)


def over_kube(transport: Transport, place: Place) -> KubeLease:
    clock = SystemClock()
    writer = Writer(transport, WriteBudget(clock), clock)
    return KubeLease(Reader(transport), writer, place.namespace, "nemutator-brain")


@pytest.fixture(params=["memory", "server"])
def lease(request: pytest.FixtureRequest, client: Client, place: Place) -> LeaseStore:
    return MemoryLease() if request.param == "memory" else over_kube(client.transport, place)


async def test_a_lease_is_made_read_renewed_and_released(lease: LeaseStore) -> None:
    assert await lease.read() is None
    made = await lease.write(NEW)
    assert made == replace(NEW, version=made.version)
    assert made.version
    assert await lease.read() == made
    renewed = await lease.write(replace(made, renewed_at=1_700_000_010.125))
    assert renewed.version != made.version
    assert await lease.read() == renewed
    released = await lease.write(replace(renewed, holder=""))
    assert released.holder == ""
    assert await lease.read() == released
    taken = await lease.write(replace(released, holder="brain-1_b", transitions=1))
    assert (taken.holder, taken.transitions) == ("brain-1_b", 1)


async def test_two_do_not_make_it_both(lease: LeaseStore) -> None:
    await lease.write(NEW)
    with pytest.raises(LeaseTakenError):
        await lease.write(replace(NEW, holder="brain-1_b"))
    found = await lease.read()
    assert found is not None
    assert found.holder == NEW.holder


async def test_who_has_read_an_older_version_writes_nothing(lease: LeaseStore) -> None:
    made = await lease.write(NEW)
    renewed = await lease.write(replace(made, renewed_at=1_700_000_010.0))
    with pytest.raises(LeaseTakenError):
        await lease.write(replace(made, holder="brain-1_b"))
    assert await lease.read() == renewed


async def test_who_may_not_learns_that_nobody_knows(place: Place) -> None:
    token = await place.somebody("nobody")
    async with HttpTransport(Fixed(access(place, token)), MemoryMeter()) as transport:
        forbidden = over_kube(transport, place)
        with pytest.raises(LeaseUnavailableError):
            await forbidden.read()
        with pytest.raises(LeaseUnavailableError):
            await forbidden.write(NEW)
