import asyncio
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.streams import (
    GRANTS,
    WINDOWS,
    MemoryStream,
    grant_stream,
    report_stream,
    window_stream,
)
from nemutator_common.wire import Ack, Grant

from tests.fakes.brain_link import BrainLink
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reports import report
from tests.fakes.windows import heap_reading, symbols


def grant(secret: str = "db") -> Grant:
    return Grant(
        at=1.0,
        node="n",
        namespace="shop",
        pod="web-1",
        pod_uid="u",
        service_account="web",
        caller="",
        operation="read",
        secret=secret,
        result="granted",
    )


class StreamBrain:
    """Takes `StreamBatch`es."""

    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []
        self.taken = asyncio.Event()

    async def position(self, *, writer: str, epoch: str) -> Ack:
        return Ack(epoch, 0)

    async def send(self, batch: bytes) -> Ack:
        given: dict[str, Any] = msgspec.json.decode(batch)
        self.records += given["records"]
        self.taken.set()
        return Ack(given["epoch"], given["first"] + len(given["records"]) - 1)


def grants(link: StreamBrain, meter: MemoryMeter) -> MemoryStream[Grant]:
    return grant_stream(fake_process(meter=meter), link, node="n", epoch="e", call_s=5.0)


async def test_grants_arrive_as_the_wire_describes_them() -> None:
    brain = StreamBrain()
    stream = grants(brain, MemoryMeter())
    stream.put(grant())
    stream.put(grant("api"))
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(stream.run())
        await brain.taken.wait()
        task.cancel()
    assert [msgspec.convert(one, Grant) for one in brain.records] == [grant(), grant("api")]


async def test_what_does_not_fit_is_counted() -> None:
    meter = MemoryMeter()
    stream = grants(StreamBrain(), meter)
    for _ in range(GRANTS + 3):
        stream.put(grant())
    assert meter.value(names.UPLINK_DROPPED, stream="grants", reason="buffer_full") == 3
    assert meter.value(names.UPLINK_WAITING, stream="grants") == GRANTS


async def test_reports_arrive_and_then_their_writer_is_ready() -> None:
    brain, readiness = BrainLink(), Readiness()
    stream = report_stream(
        fake_process(readiness=readiness),
        brain,
        Buffer(most=10, most_bytes=1 << 20),
        node="n",
        epoch="e",
        call_s=5.0,
    )
    assert "uplink" in readiness.problems()
    assert stream.report_every_s == 0
    brain.report_every_s = 20.0
    stream.put(report())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stream.run())
        await brain.until_stored(1)
        assert stream.report_every_s == 20.0
        task.cancel()
    assert brain.batches[0].envelopes[0].report == report()


async def test_windows_arrive_in_order_and_tell_what_was_dropped() -> None:
    brain = StreamBrain()
    stream = window_stream(fake_process(), brain, node="n", epoch="e", call_s=5.0)
    stream.put(symbols())
    stream.put(heap_reading())
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(stream.run())
        await brain.taken.wait()
        task.cancel()
    assert [one["record"] for one in brain.records] == ["symbols", "reading"]
    for _ in range(WINDOWS):
        stream.put(symbols())
    assert stream.dropped == 0
    stream.put(symbols())
    assert stream.dropped == 1
