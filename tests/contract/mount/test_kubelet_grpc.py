"""A driver with real gRPC on real sockets, called as kubelet calls it; mounts are a fake."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
import pytest
from nemutator_agent.mount.kubelet_grpc import PART, KubeletCalls
from nemutator_agent.mount.protobuf import Message, fields
from nemutator_agent.mount.publishing import VolumePublisher
from nemutator_common import names
from nemutator_common.process import Process

from tests.agent.mount.requests import publish_message, unpublish_message
from tests.fakes.meters import MemoryMeter
from tests.fakes.mounting import ROOT, FakeCredentials, FakeMounts, FakeRecords, target_of
from tests.fakes.process import fake_process

CALL_S = 60.0


@dataclass
class Driver:
    plugin: grpc.aio.Channel
    registration: grpc.aio.Channel
    mounts: FakeMounts
    credentials: FakeCredentials
    records: FakeRecords
    process: Process

    async def node(self, method: str, message: bytes = b"") -> bytes:
        return await call(self.plugin, f"/csi.v1.Node/{method}", message)

    async def identity(self, method: str) -> bytes:
        return await call(self.plugin, f"/csi.v1.Identity/{method}", b"")


async def call(channel: Any, method: str, message: bytes) -> bytes:
    answer: bytes = await channel.unary_unary(method)(message, timeout=CALL_S)
    return answer


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[Driver]:
    mounts, credentials = FakeMounts(), FakeCredentials()
    records, process = FakeRecords(), fake_process()
    publisher = VolumePublisher(mounts, credentials, records, process)
    plugin, registration = tmp_path / "csi.sock", tmp_path / "reg.sock"
    plugin.touch()  # what a killed one leaves behind
    calls = KubeletCalls(
        publisher,
        process,
        driver="agent.nemutator.io",
        node="node-1",
        kubelet_root=ROOT,
        plugin_socket=plugin,
        registration_socket=registration,
    )
    await calls.bind()
    async with (
        grpc.aio.insecure_channel(f"unix:{plugin}") as one,
        grpc.aio.insecure_channel(f"unix:{registration}") as other,
    ):
        yield Driver(one, other, mounts, credentials, records, process)
    await calls.close()


async def test_kubelet_learns_where_the_driver_is(driver: Driver, tmp_path: Path) -> None:
    service = "/pluginregistration.Registration"
    answer = await call(driver.registration, f"{service}/GetInfo", b"")
    texts = {one.number: one.content.decode() for one in fields(answer)}
    assert texts == {
        1: "CSIPlugin",
        2: "agent.nemutator.io",
        3: str(tmp_path / "csi.sock"),
        4: "1.0.0",
    }
    status = Message()
    status.number(1, 1)
    method = f"{service}/NotifyRegistrationStatus"
    assert PART in driver.process.readiness.problems()
    assert await call(driver.registration, method, status.encoded()) == b""
    assert PART not in driver.process.readiness.problems()


async def test_a_driver_that_kubelet_refused_is_not_ready(driver: Driver) -> None:
    method = "/pluginregistration.Registration/NotifyRegistrationStatus"
    status = Message()
    status.text(2, "no such version")
    await call(driver.registration, method, status.encoded())
    assert "no such version" in driver.process.readiness.problems()[PART]


async def test_calls_are_counted_by_method_and_result(driver: Driver) -> None:
    await driver.node("NodePublishVolume", publish_message())
    with pytest.raises(grpc.aio.AioRpcError):
        await driver.node("NodePublishVolume", b"\xff\xff")
    meter = driver.process.meter
    assert isinstance(meter, MemoryMeter)
    for result in ("ok", "invalid_argument"):
        assert meter.value(names.KUBELET_CALLS, method="NodePublishVolume", result=result) == 1


async def test_kubelet_learns_who_it_is(driver: Driver) -> None:
    (name, _) = fields(await driver.identity("GetPluginInfo"))
    assert name.content.decode() == "agent.nemutator.io"
    assert await driver.identity("GetPluginCapabilities") == b""
    assert await driver.identity("Probe")
    (node,) = fields(await driver.node("NodeGetInfo"))
    assert node.content.decode() == "node-1"
    assert await driver.node("NodeGetCapabilities") == b""


async def test_a_volume_comes_and_goes(driver: Driver) -> None:
    await driver.node("NodePublishVolume", publish_message())
    await driver.node("NodePublishVolume", publish_message())
    assert driver.mounts.published == {target_of(): "csi-1"}
    assert driver.credentials.known["csi-1"].tokens == {"vault": "a.b.c"}
    await driver.node("NodeUnpublishVolume", unpublish_message())
    await driver.node("NodeUnpublishVolume", unpublish_message())
    assert driver.mounts.published == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"\xff\xff", grpc.StatusCode.INVALID_ARGUMENT),
        (b"", grpc.StatusCode.INVALID_ARGUMENT),
        (publish_message(target="/etc"), grpc.StatusCode.INVALID_ARGUMENT),
        (b"\0" * (2 << 20), grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
async def test_what_is_no_request_is_refused(
    driver: Driver, message: bytes, code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodePublishVolume", message)
    assert refused.value.code() == code
    await driver.node("NodePublishVolume", publish_message())


async def test_volumes_of_other_drivers_are_neither_covered_nor_ended(driver: Driver) -> None:
    """Who reaches this socket asks a process that may mount and unmount everything."""
    driver.mounts.published = {target_of(): "of another driver"}
    for method, message in (
        ("NodeUnpublishVolume", unpublish_message(volume_id="of-another-driver")),
        ("NodePublishVolume", publish_message()),
        ("NodeUnpublishVolume", unpublish_message()),
    ):
        with pytest.raises(
            grpc.aio.AioRpcError, match="something else than this volume"
        ) as refused:
            await driver.node(method, message)
        assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert driver.mounts.published == {target_of(): "of another driver"}


async def test_the_end_of_a_volume_is_refused_under_anothers_id(driver: Driver) -> None:
    await driver.node("NodePublishVolume", publish_message())
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodeUnpublishVolume", unpublish_message(volume_id="csi-2"))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert driver.mounts.published == {target_of(): "csi-1"}


async def test_a_pod_is_told_why_it_has_to_wait(driver: Driver) -> None:
    driver.credentials.away = True
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodePublishVolume", publish_message())
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert refused.value.details() == "nemutator: nobody there"
    driver.credentials.away = False
    driver.mounts.broken = OSError(28, "No space left on device", "/volumes/csi-1")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodePublishVolume", publish_message())
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert refused.value.details() == "nemutator: No space left on device: /volumes/csi-1"


async def test_kubelet_comes_back_for_whatever_was_begun(driver: Driver) -> None:
    """Of other codes kubelet believes that nothing is left, and never tells the end."""
    not_final = {"CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED"}
    driver.mounts.broken = OSError(12, "Cannot allocate memory", "/volumes/csi-1")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodePublishVolume", publish_message())
    assert driver.records.kept
    assert refused.value.code().name in not_final
    driver.mounts.broken = None
    await driver.node("NodeUnpublishVolume", unpublish_message())
    assert not driver.records.kept


async def test_what_we_do_not_offer_is_unimplemented(driver: Driver) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.node("NodeStageVolume")
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED


async def test_only_our_own_user_may_call(driver: Driver, tmp_path: Path) -> None:
    with contextlib.suppress(grpc.aio.AioRpcError):
        await driver.identity("Probe")
    assert modes(tmp_path) == {"csi.sock": 0o600, "reg.sock": 0o600}


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("*.sock")}
