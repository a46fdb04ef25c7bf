"""Where sizing learns what was used: behind the store, so that a report that comes twice counts once."""

from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Batch, Envelope, Summary

from nemutator_controller.ingest.ports import ReportStore
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.ports import UsageOwners
from nemutator_controller.sizing.usages import Usages, is_sound


@dataclass(frozen=True, slots=True)
class LearningStore:
    """A `ReportStore` around another one, which learns from what was new to that one.

    A batch whose write had an unknown outcome is sent again, and is not new then: its summaries,
    usually of a quarter of a minute, are missing. That is better than counting them twice.
    """

    inner: ReportStore
    usages: Usages
    owners: UsageOwners
    process: Process

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        stored = await self.inner.store(batch, now=now)
        self._learn(batch.node, stored.fresh)
        return stored

    def _learn(self, node: str, envelopes: Iterable[Envelope]) -> None:
        now = self.process.clock.now()
        known: list[tuple[ContainerKey, Summary]] = []
        unsound = unknown = 0
        # There are several of each container when an agent reports seldom.
        keys: dict[tuple[str | None, ...], ContainerKey | None] = {}
        for summary in (each for envelope in envelopes for each in envelope.report.summaries):
            if not is_sound(summary, now=now):
                unsound += 1
                continue
            what = summary.path, summary.program, summary.pod_uid, summary.container_id
            if what not in keys:
                keys[what] = self.owners.of(node, summary)
            if (key := keys[what]) is None:
                unknown += 1
            else:
                known.append((key, summary))
        self.process.meter.count(names.SUMMARIES_DROPPED, unsound, reason="unsound")
        self.process.meter.count(names.SUMMARIES_DROPPED, unknown, reason="unknown_owner")
        done = self.usages.learn(known, now=now)
        self.process.meter.count(names.SUMMARIES_LEARNED, done.learned)
        self.process.meter.count(names.SUMMARIES_DROPPED, done.refused, reason="no_room")
        self.process.meter.count(names.USAGES_DROPPED, done.evicted, reason="count")
        self.process.meter.gauge(names.USAGES, len(self.usages))
