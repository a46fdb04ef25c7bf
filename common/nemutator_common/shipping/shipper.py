"""Brings the records of a stream to the brain, in order, each once as far as the brain counts.

It asks what the brain has before it sends anything, at the start and after every failure: an answer
that was lost on the way does not make it send twice. While the brain is away records wait in their
source; whoever makes them never waits.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.shipping.batches import Encode, Numbered, without_gap
from nemutator_common.shipping.links import BatchRefusedError, Link, LinkUnavailableError
from nemutator_common.shipping.sources import Source
from nemutator_common.wire import Ack

log = logging.getLogger(__name__)

BATCH_BYTES = 1 << 20
"""Of a batch with several records: small enough to be stored and answered well within a deadline."""

BATCH_RECORDS = 64

_BACKOFF = Backoff(first_s=0.25, longest_s=15.0)
_LONGEST_RETRY_AFTER_S = 60.0
"""A brain that says more is believed this much: its next sentence may be another."""


class Health(Protocol):
    """How the link does, for whoever asks the process; `serving.readiness` is one."""

    def fail(self, part: str, why: str) -> None: ...

    def pass_(self, part: str) -> None: ...


class Shipper:
    """`run` is the task that ships; `wake` it after a record was added to *source*.

    Without *health* the process stays ready while the brain is away, as one must whose work does
    not need it.
    """

    def __init__(
        self,
        link: Link,
        source: Source,
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
        part: str = "uplink",
    ) -> None:
        """*stream* is the metrics' label, *part* the link's name in /readyz."""
        self._link = link
        self._source = source
        self._stream = stream
        self._writer = writer
        self._epoch = epoch
        self._encode = encode
        self._call_s = call_s
        self._clock = clock
        self._meter = meter
        self._roll = roll
        self._health = health
        self._part = part
        self._filled = asyncio.Event()
        self._failures = 0
        self._resumed = False
        # After a refusal records go one by one: only the wrong one is to be lost.
        self._singly_up_to = 0
        self._fails("nothing accepted by the brain yet")

    def wake(self) -> None:
        self._measure()
        self._filled.set()

    async def run(self) -> None:
        while True:
            if len(self._source) == 0:
                self._filled.clear()
                await self._filled.wait()
            try:
                async with asyncio.timeout(self._call_s):
                    await self._step()
            except LinkUnavailableError as error:
                await self._wait_after(error)
            except TimeoutError:
                why = f"the brain did not answer within {self._call_s:g} s"
                await self._wait_after(LinkUnavailableError("timeout", why))
            self._measure()

    async def _step(self) -> None:
        """One call: first the question where we stand, then batches."""
        if not self._resumed:
            position = await self._link.position(writer=self._writer, epoch=self._epoch)
            self._accept(position, at_least=0)
            self._resumed = True
            return
        waiting = self._next()
        if not waiting:
            return
        first, last = waiting[0][0], waiting[-1][0]
        try:
            ack = await self._link.send(self._encode(self._writer, self._epoch, waiting))
        except BatchRefusedError as error:
            self._refused(error, first=first, last=last)
            return
        self._accept(ack, at_least=first)
        sent = sum(seq <= ack.seq for seq, _ in waiting)
        self._meter.count(names.UPLINK_SENT, sent, stream=self._stream)
        self._recovered()

    def _next(self) -> Numbered:
        waiting = self._source.first(most=BATCH_RECORDS, most_bytes=BATCH_BYTES)
        singly = waiting and waiting[0][0] <= self._singly_up_to
        return waiting[:1] if singly else without_gap(waiting)

    def _accept(self, ack: Ack, *, at_least: int) -> None:
        """Forget what the brain has; an answer that cannot be true is none."""
        if ack.epoch != self._epoch or not at_least <= ack.seq <= self._source.last_seq:
            raise LinkUnavailableError("nonsense", "the brain's answer does not fit what was sent")
        self._source.forget(up_to=ack.seq)

    def _recovered(self) -> None:
        if self._failures:
            log.info(
                "uplink_recovered",
                {
                    names.STREAM: self._stream,
                    names.ATTEMPT: self._failures,
                    names.EPOCH: self._epoch,
                },
            )
        self._failures = 0
        if self._health is not None:
            self._health.pass_(self._part)

    def _refused(self, error: BatchRefusedError, *, first: int, last: int) -> None:
        if first < last:
            self._singly_up_to = last
            return
        self._source.forget(up_to=first)
        self._meter.count(names.UPLINK_DROPPED, stream=self._stream, reason=error.reason)
        self._fails(f"the brain refuses {self._stream}: {error}")
        log.error(
            "record_refused",
            {
                names.STREAM: self._stream,
                names.SEQ: first,
                names.REASON: error.reason,
                names.ERROR: error,
            },
        )

    async def _wait_after(self, error: LinkUnavailableError) -> None:
        self._resumed = False
        self._failures += 1
        told_s = min(error.retry_after_s, _LONGEST_RETRY_AFTER_S)
        delay_s = max(_BACKOFF.delay_s(self._failures, roll=self._roll()), told_s)
        self._meter.count(names.UPLINK_FAILURES, stream=self._stream, reason=error.reason)
        self._fails(str(error))
        level = logging.WARNING if self._failures == 1 else logging.DEBUG
        log.log(
            level,
            "uplink_unavailable",
            {
                names.STREAM: self._stream,
                names.REASON: error.reason,
                names.ERROR: error,
                names.ATTEMPT: self._failures,
                names.DELAY_S: round(delay_s, 2),
            },
        )
        await self._clock.sleep(delay_s)

    def _fails(self, why: str) -> None:
        if self._health is not None:
            self._health.fail(self._part, why)

    def _measure(self) -> None:
        self._meter.gauge(names.UPLINK_WAITING, len(self._source), stream=self._stream)
