"""Adds what containers used to their history, as soon as it is stored."""

from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_points import UsagePoints


@dataclass(frozen=True, slots=True)
class UsageHistoryLearner:
    """A `UsageConsumer`."""

    usage: UsageHistory
    process: Process

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        folded = self.usage.learn(node, points, now=now)
        meter = self.process.meter
        meter.count(names.HISTORY_USE_ADDED, folded.added)
        for reason, count in folded.dropped.items():
            meter.count(names.HISTORY_USE_DROPPED, count, reason=reason)
        if folded.evicted:
            meter.count(names.HISTORY_ROWS_DROPPED, folded.evicted, reason="count")
