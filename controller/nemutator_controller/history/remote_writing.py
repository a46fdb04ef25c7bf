"""Sends each minute of history to Prometheus, Mimir or VictoriaMetrics, for weeks to live there.

The queue is the history itself: a minute stays for two hours, and one that could not be sent by then is skipped.
So it takes no memory of its own, and what is sent is in the order of time, as receivers want it.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.ports import RemoteWriteReceiver
from nemutator_controller.history.remote_write_messages import (
    RemoteWriteRefusedError,
    RemoteWriteUnavailableError,
    body,
)
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.history.written_minutes import (
    SETTLES_S,
    oldest_kept,
    rows_of,
    written_minute,
)

log = logging.getLogger(__name__)

SEND_S = 30.0
AT_ONCE = 400
"""Rows in one request: with two figures 2 000 samples, what Prometheus itself sends at once."""

LEARNS_S = 300.0
"""Of several brains one learns and sends: another has learned nothing for so long."""

_BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(slots=True)
class RemoteWriting:
    """`run()` is a task for a Supervisor."""

    usage: UsageHistory
    receiver: RemoteWriteReceiver
    process: Process
    external: Mapping[str, str] = field(default_factory=dict)
    """Labels of all series."""
    send_s: float = SEND_S
    _next: int | None = field(default=None, init=False)
    """The minute to be sent next."""

    async def run(self) -> None:
        # What was before this life was sent by the one before it, or is lost to the receiver.
        self._next = int((self.process.clock.now() - SETTLES_S) // MINUTE_S)
        while True:
            await self.send_due()
            await self.process.clock.sleep(5.0)

    async def send_due(self) -> None:
        """Send all minutes that are complete."""
        now = self.process.clock.now()
        due = int((now - SETTLES_S) // MINUTE_S)
        learns = now - self.usage.learned_at <= LEARNS_S
        if self._next is None or self._next > due + 1 or not learns:
            # The first look, or the clock was set back, or another brain learns, and sends.
            self._next = due
        while self._next < due:
            oldest = oldest_kept(self.usage)
            if self._next < oldest <= due:
                self.process.meter.count(names.HISTORY_MINUTES_SKIPPED, oldest - self._next)
                log.warning("history_not_written", {names.REASON: "queue_full"})
                self._next = oldest
            if self._next <= self.usage.newest:
                await self._send(self._next)
            self._next += 1

    async def _send(self, minute: int) -> None:
        for begin in range(0, rows_of(self.usage), AT_ONCE):
            if minute < oldest_kept(self.usage):
                # The receiver was away meanwhile, and another minute has its place.
                self.process.meter.count(names.HISTORY_MINUTES_SKIPPED)
                return
            some = slice(begin, min(begin + AT_ONCE, rows_of(self.usage)))
            written = written_minute(self.usage, minute, some, external=self.external)
            if written:
                await self._post(body(written), samples=len(written), minute=minute)
            await self.process.clock.sleep(0)

    async def _post(self, content: bytes, *, samples: int, minute: int) -> None:
        failures = 0
        while minute >= oldest_kept(self.usage):
            try:
                async with asyncio.timeout(self.send_s):
                    await self.receiver.write(content)
            except RemoteWriteRefusedError as error:
                return self._drop(samples, "refused", str(error))
            except (RemoteWriteUnavailableError, TimeoutError) as error:
                failures += 1
                if failures == 1:
                    why = str(error) or f"no answer within {self.send_s:g} s"
                    log.warning("history_waits", {names.REASON: "unreachable", names.ERROR: why})
                roll = self.process.dice.random()
                delay_s = _BACKOFF.delay_s(failures, roll=roll)
                asked_s = getattr(error, "retry_after_s", 0.0)
                await self.process.clock.sleep(max(delay_s, asked_s))
            else:
                self.process.meter.count(names.HISTORY_SAMPLES_WRITTEN, samples)
                return None
        return self._drop(samples, "unreachable", "it was away for longer than minutes are kept")

    def _drop(self, samples: int, reason: str, why: str) -> None:
        self.process.meter.count(names.HISTORY_SAMPLES_DROPPED, samples, reason=reason)
        log.warning("history_not_written", {names.REASON: reason, names.ERROR: why})
