"""Brings reports to the brain, in order, each once as far as the brain counts.

It asks what the brain has before it sends anything, at the start and after every failure: an answer
that was lost on the way does not make it send twice. While the brain is away reports wait in a
bounded buffer; whoever makes them never waits.
"""

import asyncio
import logging
from collections.abc import Callable

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.serving.readiness import Readiness
from nemutator_common.wire import Ack, Report

from nemutator_agent.uplink.buffer import Buffer, Waiting, encode_batch
from nemutator_agent.uplink.link import BatchRefusedError, Link, LinkUnavailableError

log = logging.getLogger(__name__)

PART = "uplink"
"""Its name in /readyz."""

BATCH_BYTES = 1 << 20
"""Of a batch with several reports: small enough to be stored and answered well within a deadline."""

BATCH_REPORTS = 64

_BACKOFF = Backoff(first_s=0.25, longest_s=15.0)
_LONGEST_RETRY_AFTER_S = 60.0
"""A brain that says more is believed this much: its next sentence may be another."""


class Uplink:
    """`put` a report; `run` is the task that ships."""

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
        readiness: Readiness,
        roll: Callable[[], float],
    ) -> None:
        self._link = link
        self._buffer = buffer
        self._node = node
        self._epoch = epoch
        self._call_s = call_s
        self._clock = clock
        self._meter = meter
        self._readiness = readiness
        self._roll = roll
        self._filled = asyncio.Event()
        self._failures = 0
        self._resumed = False
        # After a refusal reports go one by one: only the wrong one is to be lost.
        self._singly_up_to = 0
        readiness.fail(PART, "no report accepted by the brain yet")

    def put(self, report: Report) -> None:
        """Take *report* into the buffer; the oldest make room when it is full."""
        if dropped := self._buffer.put(report):
            self._meter.count(names.REPORTS_DROPPED, dropped, reason="buffer_full")
        self._measure()
        self._filled.set()

    async def run(self) -> None:
        while True:
            if len(self._buffer) == 0:
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
            position = await self._link.position(node=self._node, epoch=self._epoch)
            self._accept(position, at_least=0)
            self._resumed = True
            return
        waiting = self._next()
        if not waiting:
            return
        try:
            ack = await self._link.send(encode_batch(self._node, self._epoch, waiting))
        except BatchRefusedError as error:
            self._refused(error, first=waiting[0].seq, last=waiting[-1].seq)
            return
        self._accept(ack, at_least=waiting[0].seq)
        self._meter.count(names.REPORTS_SENT, sum(one.seq <= ack.seq for one in waiting))
        self._recovered()

    def _next(self) -> tuple[Waiting, ...]:
        waiting = self._buffer.first(most=BATCH_REPORTS, most_bytes=BATCH_BYTES)
        return waiting[:1] if waiting and waiting[0].seq <= self._singly_up_to else waiting

    def _accept(self, ack: Ack, *, at_least: int) -> None:
        """Forget what the brain has; an answer that cannot be true is none."""
        if ack.epoch != self._epoch or not at_least <= ack.seq <= self._buffer.last_seq:
            raise LinkUnavailableError("nonsense", "the brain's answer does not fit what was sent")
        self._buffer.forget(up_to=ack.seq)

    def _recovered(self) -> None:
        if self._failures:
            log.info("uplink_recovered", {names.ATTEMPT: self._failures, names.EPOCH: self._epoch})
        self._failures = 0
        self._readiness.pass_(PART)

    def _refused(self, error: BatchRefusedError, *, first: int, last: int) -> None:
        if first < last:
            self._singly_up_to = last
            return
        self._buffer.forget(up_to=first)
        self._meter.count(names.REPORTS_DROPPED, reason=error.reason)
        self._readiness.fail(PART, f"the brain refuses reports: {error}")
        log.error(
            "report_refused", {names.SEQ: first, names.REASON: error.reason, names.ERROR: error}
        )

    async def _wait_after(self, error: LinkUnavailableError) -> None:
        self._resumed = False
        self._failures += 1
        told_s = min(error.retry_after_s, _LONGEST_RETRY_AFTER_S)
        delay_s = max(_BACKOFF.delay_s(self._failures, roll=self._roll()), told_s)
        self._meter.count(names.UPLINK_FAILURES, reason=error.reason)
        self._readiness.fail(PART, str(error))
        level = logging.WARNING if self._failures == 1 else logging.DEBUG
        log.log(
            level,
            "uplink_unavailable",
            {
                names.REASON: error.reason,
                names.ERROR: error,
                names.ATTEMPT: self._failures,
                names.DELAY_S: round(delay_s, 2),
            },
        )
        await self._clock.sleep(delay_s)

    def _measure(self) -> None:
        self._meter.gauge(names.UPLINK_WAITING, len(self._buffer))
