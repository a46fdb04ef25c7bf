"""Two brains that share what is learned, in memory, and what they learn from."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nemutator_common.wire import Envelope
from nemutator_common.wire_activity import Flow
from nemutator_controller.database.claim import Claim, ClaimLostError
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import (
    NamedSeries,
    NodePoints,
    UsagePoints,
    points_of,
)
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.sizing.keys import ByPath
from nemutator_controller.sizing.learning import UsageLearner
from nemutator_controller.sizing.shared.learning import SharedLearning
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, summary
from tests.fakes.batches import busy_report
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.shared_usages import MemorySharedUsages, SharedRows

LOST_S = 11.0
FLOW = Flow(
    pod_uid="u1",
    address="10.0.0.7",
    port=5432,
    protocol="tcp",
    direction="out",
    received=1_000,
    sent=2_000,
    connections=3,
    from_at=NOW - 15,
    to_at=NOW,
)


def points(path: str = "/s/a") -> UsagePoints:
    one = replace(summary(NOW), path=path)
    envelope = Envelope(1, replace(busy_report(NOW), summaries=(one,)))
    return points_of(NamedSeries(), [envelope])


class CountedBeside:
    def __init__(self, rows: SharedRows) -> None:
        self._rows = rows
        self.settled = self.saved = 0
        self.restored_by: list[Claim | None] = []

    async def restore_anew(self, claim: Claim | None) -> None:
        self.restored_by.append(claim)

    async def settle_once(self) -> None:
        self.settled += 1

    async def save(self, claim: Claim) -> None:
        if claim != self._rows.claim:
            raise ClaimLostError
        self.saved += 1


async def at_once(restore: Callable[..., None], *arguments: object) -> None:
    restore(*arguments)


class Watcher:
    """A `UsageConsumer` that counts."""

    def __init__(self) -> None:
        self.seen = 0

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        self.seen += len(reported)


class Brain:
    def __init__(self, rows: SharedRows, name: str, clock: ManualClock) -> None:
        self.usages = Usages(most=10)
        self.store = MemorySharedUsages(rows, name)
        self.beside, self.watcher, self.flows = CountedBeside(rows), Watcher(), KeptFlows()
        self.turns: list[int | None] = []
        process = fake_process(clock=clock)
        learner = UsageLearner(self.usages, SeriesOwners(ByPath().of, most_nodes=10), process)
        self.learning = SharedLearning(
            self.usages,
            self.store,
            [learner],
            process,
            most=10,
            in_thread=at_once,
            beside=[self.beside],
            watchers=[self.watcher],
            on_turn=self.turns.append,
            flows=self.flows,
        )

    def known(self) -> dict[str, int]:
        return {one.key.owner: one.points for one in self.usages.seen(self.usages.keys(), now=NOW)}


class Brains:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.rows = SharedRows(self.clock)
        self.all = [Brain(self.rows, name, self.clock) for name in "ab"]

    def again(self, number: int) -> Brain:
        """The process was killed and started again."""
        self.all[number] = Brain(self.rows, "ab"[number], self.clock)
        return self.all[number]
