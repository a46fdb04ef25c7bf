"""Ships the records of a stream to the brain, in order; the brain counts each of them once.

It asks what the brain has before it sends anything, at the start and after every failure, so that a
lost response does not make it send records twice. While the brain is away, records wait in their
queue, and their producers never wait.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff, spread_s
from nemutator_common.process import Process
from nemutator_common.shipping.batches import Encode, Numbered, without_gap
from nemutator_common.shipping.links import BatchRefusedError, Link, LinkUnavailableError
from nemutator_common.shipping.record_queue import RecordQueue
from nemutator_common.wire import LONGEST_PACE_S, Ack

log = logging.getLogger(__name__)

BATCH_BYTES = 1 << 20
"""The limit of a batch with several records, small enough to be stored well within a deadline."""

BATCH_RECORDS = 64

_BACKOFF = Backoff(first_s=0.5, longest_s=15.0, fixed=0.1)
"""After an outage ten thousand agents come back over a quarter of a minute, and not in the same second."""

_LONGEST_RETRY_AFTER_S = 60.0
"""The longest wait that we accept from a brain: after it, the brain may have changed its mind."""


PART = "uplink"
"""The link's name in /readyz."""


@dataclass(kw_only=True, eq=False)
class Shipper:
    """`run` is the task that ships; call `wake` after adding a record to *queue*."""

    process: Process
    link: Link
    queue: RecordQueue
    stream: str
    """The value of the metrics' label."""
    writer: str
    epoch: str
    encode: Encode
    call_s: float
    acknowledged: Callable[[Ack], None] = lambda _: None
    """Hears each `Ack`."""
    in_another_form: Callable[[int], bool] = lambda _: False
    """Called when records up to a number were refused: whether they shall be sent again, in another form."""
    needed: bool = False
    """Whether the process is not ready while the brain is away."""
    report_every_s: float = field(init=False, default=0.0)
    """The seconds that the brain wants between two reports of a node: more when many nodes report
    to it, and 0 until it has asked for any."""
    _waiting: Callable[[float], None] = field(init=False)
    _filled: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _failures: int = field(init=False, default=0)
    _resumed: bool = field(init=False, default=False)
    # After a refusal records are sent one by one, so that only the invalid one is lost.
    _singly_up_to: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._waiting = self.process.meter.level(names.UPLINK_WAITING, stream=self.stream)
        self._fails("nothing accepted by the brain yet")

    def wake(self) -> None:
        self._measure()
        if not self._filled.is_set():
            self._filled.set()

    async def run(self) -> None:
        while True:
            if len(self.queue) == 0:
                self._filled.clear()
                await self._filled.wait()
            try:
                async with asyncio.timeout(self.call_s):
                    await self._step()
            except LinkUnavailableError as error:
                await self._wait_after(error)
            except TimeoutError:
                why = f"the brain did not answer within {self.call_s:g} s"
                await self._wait_after(LinkUnavailableError("timeout", why))
            self._measure()

    async def _step(self) -> None:
        """Make one call: first ask what the brain has, then send batches."""
        if not self._resumed:
            position = await self.link.position(writer=self.writer, epoch=self.epoch)
            self._accept(position, at_least=0)
            self._resumed = True
            return
        waiting = self._next()
        if not waiting:
            return
        first, last = waiting[0][0], waiting[-1][0]
        try:
            ack = await self.link.send(self.encode(self.writer, self.epoch, waiting))
        except BatchRefusedError as error:
            self._refused(error, first=first, last=last)
            return
        self._accept(ack, at_least=first)
        sent = sum(seq <= ack.seq for seq, _ in waiting)
        self.process.meter.count(names.UPLINK_SENT, sent, stream=self.stream)
        self._recovered()

    def _next(self) -> Numbered:
        waiting = self.queue.first(most=BATCH_RECORDS, most_bytes=BATCH_BYTES)
        singly = waiting and waiting[0][0] <= self._singly_up_to
        return waiting[:1] if singly else without_gap(waiting)

    def _accept(self, ack: Ack, *, at_least: int) -> None:
        """Remove what the brain has from the queue; an `Ack` that cannot be true is an error."""
        if ack.epoch != self.epoch or not at_least <= ack.seq <= self.queue.last_seq:
            raise LinkUnavailableError("invalid", "the brain's answer does not fit what was sent")
        self.report_every_s = min(max(0.0, ack.report_every_s), LONGEST_PACE_S)
        self.queue.forget(up_to=ack.seq)
        self.acknowledged(ack)

    def _recovered(self) -> None:
        if self._failures:
            log.info(
                "uplink_recovered",
                {
                    names.STREAM: self.stream,
                    names.ATTEMPT: self._failures,
                    names.EPOCH: self.epoch,
                },
            )
        self._failures = 0
        if self.needed:
            self.process.readiness.pass_(PART)

    def _refused(self, error: BatchRefusedError, *, first: int, last: int) -> None:
        if self.in_another_form(last):
            return
        if first < last:
            self._singly_up_to = last
            return
        self.queue.forget(up_to=first)
        self.process.meter.count(names.UPLINK_DROPPED, stream=self.stream, reason=error.reason)
        self._fails(f"the brain refuses {self.stream}: {error}")
        log.error(
            "record_refused",
            {
                names.STREAM: self.stream,
                names.SEQ: first,
                names.REASON: error.reason,
                names.ERROR: error,
            },
        )

    async def _wait_after(self, error: LinkUnavailableError) -> None:
        self._resumed = False
        self._failures += 1
        roll = self.process.dice.random()
        asked_s = spread_s(min(error.retry_after_s, _LONGEST_RETRY_AFTER_S), roll=roll)
        delay_s = max(_BACKOFF.delay_s(self._failures, roll=roll), asked_s)
        self.process.meter.count(names.UPLINK_FAILURES, stream=self.stream, reason=error.reason)
        self._fails(str(error))
        level = logging.WARNING if self._failures == 1 else logging.DEBUG
        log.log(
            level,
            "uplink_unavailable",
            {
                names.STREAM: self.stream,
                names.REASON: error.reason,
                names.ERROR: error,
                names.ATTEMPT: self._failures,
                names.DELAY_S: round(delay_s, 2),
            },
        )
        await self.process.clock.sleep(delay_s)

    def _fails(self, why: str) -> None:
        if self.needed:
            self.process.readiness.fail(PART, why)

    def _measure(self) -> None:
        self._waiting(len(self.queue))
