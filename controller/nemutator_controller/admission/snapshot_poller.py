"""Asks the brain for its snapshots, again and again, beside the answers that are made from them.

A brain that is away, or that talks nonsense, changes nothing: the last snapshot stays.
"""

import logging
from collections.abc import Callable

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.shipping.links import LinkError, LinkUnavailableError

from nemutator_controller.admission.ports import SnapshotSource
from nemutator_controller.admission.snapshots import SnapshotError

log = logging.getLogger(__name__)

ADVICE_S = 60.0
"""Advice is made of hours; its document may be some megabytes."""

TOMBSTONES_S = 2.0
"""A person waits for it: a pod is evicted only when every replica has heard why."""

BACKOFF = Backoff(first_s=1.0, longest_s=15.0)
_LONGEST_RETRY_AFTER_S = 60.0


class SnapshotPoller:
    """One snapshot; `run` is its task."""

    def __init__(
        self,
        snapshot: str,
        path: str,
        documents: SnapshotSource,
        take: Callable[[bytes], None],
        *,
        every_s: float,
        clock: Clock,
        meter: Meter,
        roll: Callable[[], float],
    ) -> None:
        """*take* raises `SnapshotError` for what it does not understand, and then keeps the old."""
        self._snapshot = snapshot
        self._path = path
        self._documents = documents
        self._take = take
        self._every_s = every_s
        self._clock = clock
        self._meter = meter
        self._roll = roll
        self._heard_at = clock.monotonic()
        self._known: bytes | None = None
        self._failures = 0

    async def run(self) -> None:
        while True:
            try:
                await self._ask()
            except LinkUnavailableError as error:
                delay_s = self._failed(error.reason, error)
                delay_s = max(delay_s, min(error.retry_after_s, _LONGEST_RETRY_AFTER_S))
            except LinkError as error:
                delay_s = self._failed(error.reason, error)
            except SnapshotError as error:
                delay_s = self._failed("malformed", error)
            else:
                # Replicas that were started together do not ask together.
                delay_s = self._every_s * (0.75 + 0.5 * self._roll())
            age_s = self._clock.monotonic() - self._heard_at
            self._meter.gauge(names.SNAPSHOT_AGE, age_s, snapshot=self._snapshot)
            await self._clock.sleep(delay_s)

    async def _ask(self) -> None:
        document = await self._documents.get(self._path)
        if document != self._known:
            self._take(document)
            self._known = document
        self._heard_at = self._clock.monotonic()
        if self._failures:
            log.info(
                "snapshot_recovered",
                {names.SNAPSHOT: self._snapshot, names.ATTEMPT: self._failures},
            )
        self._failures = 0

    def _failed(self, reason: str, error: Exception) -> float:
        self._failures += 1
        self._meter.count(names.SNAPSHOT_FAILURES, snapshot=self._snapshot, reason=reason)
        log.log(
            logging.WARNING if self._failures == 1 else logging.DEBUG,
            "snapshot_unavailable",
            {names.SNAPSHOT: self._snapshot, names.REASON: reason, names.ERROR: str(error)[:300]},
        )
        return BACKOFF.delay_s(self._failures, roll=self._roll())
