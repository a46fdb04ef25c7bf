"""What comes from the API server and is no lease of ours; the rest is in the contract suite."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.writing import Writer
from nemutator_controller.leasing.election import BrainLease, LeaseUnavailableError
from nemutator_controller.leasing.kube_leases import KubeLease

from tests.fakes.clocks import ManualClock


@dataclass
class OneAnswer:
    """A `Transport`."""

    body: bytes

    async def send(self, call: Call) -> bytes:
        return self.body

    def stream(
        self, call: Call, *, idle_s: float
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[bytes]]:
        raise AssertionError(call)


def lease_of(body: bytes) -> KubeLease:
    transport, clock = OneAnswer(body), ManualClock()
    writer = Writer(transport, WriteBudget(clock), clock)
    return KubeLease(Reader(transport), writer, "nemutator", "nemutator-brain")


async def test_a_lease_that_nobody_has_held_is_free() -> None:
    body = b'{"metadata": {"name": "nemutator-brain", "resourceVersion": "7"}, "spec": {}}'
    assert await lease_of(body).read() == BrainLease("", 0.0, 0.0, 0, version="7")


async def test_a_lease_says_for_how_long_it_is_left_to_its_holder() -> None:
    body = (
        b'{"metadata": {"name": "a", "resourceVersion": "7"}, "spec": {"leaseDurationSeconds": 15}}'
    )
    lease = await lease_of(body).read()
    assert lease is not None
    assert lease.lasts_s == 15.0


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"metadata": {"name": "a"}, "spec": {"renewTime": "yesterday"}}'],
)
async def test_what_is_no_lease_is_nobodys_loss(body: bytes) -> None:
    with pytest.raises(LeaseUnavailableError):
        await lease_of(body).read()
