"""Adds what containers used to their history, as soon as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints


@dataclass(frozen=True, slots=True)
class UsageHistoryLearner:
    """A `UsageConsumer`."""

    usage: UsageHistory
    process: Process

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        self.learn_all([NodePoints(node, points)], now)

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        folded = self.usage.learn_all(reported, now=now)
        meter = self.process.meter
        meter.count(names.HISTORY_USE_ADDED, folded.added)
        for reason, count in folded.dropped.items():
            meter.count(names.HISTORY_USE_DROPPED, count, reason=reason)
        if folded.evicted:
            meter.count(names.HISTORY_ROWS_DROPPED, folded.evicted, reason="count")
