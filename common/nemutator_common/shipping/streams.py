"""Streams whose records wait in memory: `put` adds one, and `run` ships it to the brain."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.shipping.batches import encode_records
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.links import Link
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.shipping.shipper import Shipper
from nemutator_common.windows import WindowPause, WindowReading, WindowSymbols
from nemutator_common.wire import Grant, Report

R = TypeVar("R")

GRANTS = 10_000
GRANTS_BYTES = 4 << 20
"""The most bytes of audit records that wait: 110 pods that read ten secrets a minute for 15 min."""

WINDOWS = 2_000
WINDOWS_BYTES = 8 << 20
"""The most bytes of windows that wait: an hour of 50 Go processes that are read every ten minutes."""

WindowRecord = WindowReading | WindowSymbols | WindowPause


@dataclass(eq=False, slots=True)
class MemoryStream(Generic[R]):
    """A stream. When it is full, the oldest records make room, and each of them is counted."""

    buffer: Buffer
    shipper: Shipper
    source: Callable[[R], str] = lambda _: ""
    """Who made a record: whoever has most of them in the buffer loses the oldest."""
    encode: Callable[[R], bytes] = msgspec.json.encode
    """A record as it waits."""
    _drops: Callable[[], object] = field(init=False)

    def __post_init__(self) -> None:
        self._drops = self.shipper.process.meter.counter(
            names.UPLINK_DROPPED, stream=self.shipper.stream, reason="buffer_full"
        )

    def put(self, record: R) -> None:
        """Add *record*; this never waits and never fails."""
        self.put_encoded(self.encode(record), source=self.source(record))

    def put_encoded(self, record: bytes, *, source: str) -> None:
        """Add a record as it goes over the wire."""
        for _ in range(self.buffer.put(record, source=source)):
            self._drops()
        self.shipper.wake()

    @property
    def dropped(self) -> int:
        """How many records were dropped so far."""
        return self.buffer.dropped

    @property
    def report_every_s(self) -> float:
        return self.shipper.report_every_s

    async def run(self) -> None:
        await self.shipper.run()


def report_stream(
    process: Process, link: Link, buffer: Buffer, *, node: str, epoch: str, call_s: float
) -> MemoryStream[Report]:
    """A node's reports. Without the brain the process is not ready: reporting is its work."""
    columns = ReportColumns()
    shipper = Shipper(
        process=process,
        link=link,
        queue=buffer,
        stream="reports",
        writer=node,
        epoch=epoch,
        encode=columns.encode,
        call_s=call_s,
        acknowledged=columns.acknowledged,
        in_another_form=columns.refused,
        needed=True,
    )
    return MemoryStream(buffer, shipper, encode=columns.record)


def grant_stream(
    process: Process, link: Link, *, node: str, epoch: str, call_s: float
) -> MemoryStream[Grant]:
    """What the credentials process did. Without the brain it stays ready, and serves secrets on."""
    buffer = Buffer(most=GRANTS, most_bytes=GRANTS_BYTES)
    shipper = Shipper(
        process=process,
        link=link,
        queue=buffer,
        stream="grants",
        writer=node,
        epoch=epoch,
        encode=encode_records,
        call_s=call_s,
    )
    return MemoryStream(buffer, shipper, source=_caller_of)


def window_stream(
    process: Process, link: Link, *, node: str, epoch: str, call_s: float
) -> MemoryStream[WindowRecord]:
    """What quiet windows have read. Reports go on without it."""
    buffer = Buffer(most=WINDOWS, most_bytes=WINDOWS_BYTES)
    shipper = Shipper(
        process=process,
        link=link,
        queue=buffer,
        stream="windows",
        writer=node,
        epoch=epoch,
        encode=encode_records,
        call_s=call_s,
    )
    return MemoryStream(buffer, shipper)


def _caller_of(grant: Grant) -> str:
    return grant.pod_uid or grant.caller
