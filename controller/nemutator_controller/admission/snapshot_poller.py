"""Polls the brain for its snapshots, so that no answer to the API server waits for the brain.

While the brain is away, or its document cannot be understood, the last snapshot stays in use.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process
from nemutator_common.shipping.links import LinkError, LinkUnavailableError

from nemutator_controller.admission.snapshots import SnapshotError

log = logging.getLogger(__name__)

ADVICE_S = 60.0
"""Advice changes over hours, and its document may have some megabytes."""

TOMBSTONES_S = 2.0
"""A person waits for it: a pod is evicted only when every replica knows what was taken back."""

TOKENS_S = 2.0
"""What was written into the token store counts for the next pod, after some seconds."""

SEASONS_S = 2.0
"""A switch counts for the next pod, after some seconds."""

TALKERS_S = 15.0
"""It changes over minutes, and with each change plans are made anew."""

UNWANTED_S = 0.2
"""The brain holds the answer back until there is another one: whoever makes pods does not wait for us."""

IMAGES_S = 2.0
"""A pod may wait for it."""

BACKOFF = Backoff(first_s=1.0, longest_s=15.0)
_LONGEST_RETRY_AFTER_S = 60.0


@dataclass(slots=True)
class SnapshotPoller:
    """Polls one snapshot; `run` is its task."""

    snapshot: str
    """The value of the metrics' label."""
    path: str
    get: Callable[[str], Awaitable[bytes]]
    """Returns the document at a path, the same bytes when it has not changed; raises `LinkError`."""
    take: Callable[[bytes], Awaitable[None]]
    """Raises `SnapshotError`, and retains the snapshot before, when it cannot read the document."""
    every_s: float
    process: Process
    _answered_at: float = field(init=False)
    _known: bytes | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._answered_at = self.process.clock.monotonic()

    async def run(self) -> None:
        while True:
            try:
                await self._poll()
            except LinkUnavailableError as error:
                delay_s = self._failed(error.reason, error)
                delay_s = max(delay_s, min(error.retry_after_s, _LONGEST_RETRY_AFTER_S))
            except LinkError as error:
                delay_s = self._failed(error.reason, error)
            except SnapshotError as error:
                delay_s = self._failed("malformed", error)
            else:
                # Replicas that started together must not poll together.
                delay_s = self.every_s * (0.75 + 0.5 * self.process.dice.random())
            age_s = self.process.clock.monotonic() - self._answered_at
            self.process.meter.gauge(names.SNAPSHOT_AGE, age_s, snapshot=self.snapshot)
            await self.process.clock.sleep(delay_s)

    async def _poll(self) -> None:
        document = await self.get(self.path)
        if document != self._known:
            await self.take(document)
            self._known = document
        self._answered_at = self.process.clock.monotonic()
        if self._failures:
            log.info(
                "snapshot_recovered",
                {names.SNAPSHOT: self.snapshot, names.ATTEMPT: self._failures},
            )
        self._failures = 0

    def _failed(self, reason: str, error: Exception) -> float:
        self._failures += 1
        self.process.meter.count(names.SNAPSHOT_FAILURES, snapshot=self.snapshot, reason=reason)
        log.log(
            logging.WARNING if self._failures == 1 else logging.DEBUG,
            "snapshot_unavailable",
            {names.SNAPSHOT: self.snapshot, names.REASON: reason, names.ERROR: str(error)[:300]},
        )
        return BACKOFF.delay_s(self._failures, roll=self.process.dice.random())
