"""Streams whose records wait in memory: `put` one, and `run` brings it to the brain."""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.shipping.batches import Encode, encode_records, encode_reports
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.links import Link
from nemutator_common.shipping.pacing import PacedLink
from nemutator_common.shipping.shipper import Health, Shipper
from nemutator_common.wire import Grant, Report

R = TypeVar("R")

GRANTS = 10_000
GRANTS_BYTES = 4 << 20
"""Of audit records that wait: the reads of 110 pods for a quarter of an hour at ten per minute."""


class MemoryStream(Generic[R]):
    """When it is full the oldest make room, and each of them is counted."""

    def __init__(
        self,
        link: Link,
        buffer: Buffer,
        *,
        stream: str,
        writer: str,
        epoch: str,
        encode: Encode,
        call_s: float,
        clock: Clock,
        meter: Meter,
        roll: Callable[[], float],
        health: Health | None = None,
    ) -> None:
        self._buffer = buffer
        self._stream = stream
        self._meter = meter
        self._shipper = Shipper(
            link,
            buffer,
            stream=stream,
            writer=writer,
            epoch=epoch,
            encode=encode,
            call_s=call_s,
            clock=clock,
            meter=meter,
            roll=roll,
            health=health,
        )

    def put(self, record: R) -> None:
        """Take *record*; this never waits and never fails."""
        if dropped := self._buffer.put(msgspec.json.encode(record)):
            self._meter.count(
                names.UPLINK_DROPPED, dropped, stream=self._stream, reason="buffer_full"
            )
        self._shipper.wake()

    async def run(self) -> None:
        await self._shipper.run()


class ReportStream(MemoryStream[Report]):
    """What a node reports. Without the brain it is not ready: reporting is its work."""

    def __init__(
        self,
        link: Link,
        buffer: Buffer,
        *,
        node: str,
        epoch: str,
        call_s: float,
        clock: Clock,
        meter: Meter,
        roll: Callable[[], float],
        health: Health,
    ) -> None:
        self._link = PacedLink(link)
        super().__init__(
            self._link,
            buffer,
            stream="reports",
            writer=node,
            epoch=epoch,
            encode=encode_reports,
            call_s=call_s,
            clock=clock,
            meter=meter,
            roll=roll,
            health=health,
        )

    @property
    def report_every_s(self) -> float:
        return self._link.report_every_s


class GrantStream(MemoryStream[Grant]):
    """What the credentials process did. Without the brain it stays ready: secrets keep flowing."""

    def __init__(
        self,
        link: Link,
        *,
        node: str,
        epoch: str,
        call_s: float,
        clock: Clock,
        meter: Meter,
        roll: Callable[[], float],
    ) -> None:
        super().__init__(
            link,
            Buffer(most=GRANTS, most_bytes=GRANTS_BYTES),
            stream="grants",
            writer=node,
            epoch=epoch,
            encode=encode_records,
            call_s=call_s,
            clock=clock,
            meter=meter,
            roll=roll,
        )
