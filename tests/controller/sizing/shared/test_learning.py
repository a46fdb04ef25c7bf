import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Envelope
from nemutator_common.wire_activity import Flow
from nemutator_controller.database.failures import StoreUnavailableError
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
from nemutator_controller.sizing.shared.kept_points import WaitingPoints
from nemutator_controller.sizing.shared.learning import (
    AT_ONCE,
    SAVE_EVERY_S,
    SHOWN_EVERY_S,
    SharedLearning,
)
from nemutator_controller.sizing.sources.source_learning import SourceLearning
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.sources.test_source_learning import KEY, STEP_S, Known, Recorded
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
    def __init__(self) -> None:
        self.restored = self.settled = self.saved = 0

    async def restore_anew(self) -> None:
        self.restored += 1

    async def settle_once(self) -> None:
        self.settled += 1

    async def save(self) -> None:
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
        self.beside, self.watcher, self.flows = CountedBeside(), Watcher(), KeptFlows()
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


@pytest.fixture
def brains() -> Brains:
    return Brains()


async def test_one_learns_and_the_other_shows_what_it_has_saved(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    await one.learning.turn()
    await other.learning.turn()
    assert (one.learning.learns, other.learning.learns) == (True, False)
    assert (one.known(), other.known()) == ({"a": 1}, {})
    brains.clock.jump(SAVE_EVERY_S)
    await one.learning.turn()
    assert not brains.rows.waiting
    assert one.beside.saved == 1
    await other.learning.turn()
    assert other.known() == {"a": 1}
    brains.rows.report("n2", points())
    await one.learning.turn()
    await one.learning.save()
    brains.clock.jump(SHOWN_EVERY_S)
    await one.learning.turn()
    await other.learning.turn()
    assert other.known() == {"a": 2}


async def test_all_watch_each_report_once(brains: Brains) -> None:
    for _ in range(3):
        brains.rows.report("n1", points())
        for brain in brains.all:
            await brain.learning.turn()
            await brain.learning.turn()
    brains.clock.jump(LOST_S)
    await brains.all[1].learning.turn()
    assert brains.all[1].known() == {"a": 3}
    assert [brain.watcher.seen for brain in brains.all] == [3, 3]


class SlowStore(MemorySharedUsages):
    """Each read of points takes so long that the claim would be lost after two of them."""

    def __init__(self, brains: Brains, holder: str, meanwhile: Brain) -> None:
        super().__init__(brains.rows, holder)
        self._clock, self._meanwhile = brains.clock, meanwhile
        self.left: list[int] = []
        """How many points waited after each read."""

    async def points(self, numbers: Sequence[int]) -> Sequence[WaitingPoints]:
        found = await super().points(numbers)
        self._clock.jump(LOST_S - 2)
        await self._meanwhile.learning.turn()
        self.left.append(len(self._rows.waiting))
        return found


async def test_who_has_more_to_learn_than_a_claim_lasts_keeps_it_and_saves_on_the_way(
    brains: Brains,
) -> None:
    one, other = brains.all
    await one.learning.turn()
    many = 8 * AT_ONCE
    for _ in range(many):
        brains.rows.report("n1", points())
    store = one.learning.store = SlowStore(brains, "a", other)
    await one.learning.turn()
    assert (one.learning.learns, other.learning.learns) == (True, False)
    assert one.known() == {"a": many}
    assert store.left[0] == many > store.left[-1] > 0
    # What is left after a kill is learned by the next one, and the rest is saved.
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    assert other.known() == {"a": many}
    assert other.watcher.seen == many


async def test_who_loses_the_claim_while_it_learns_stops_learning(brains: Brains) -> None:
    one, other = brains.all
    await one.learning.turn()
    for _ in range(3 * AT_ONCE):
        brains.rows.report("n1", points())

    class Stopped(MemorySharedUsages):
        async def points(self, numbers: Sequence[int]) -> Sequence[WaitingPoints]:
            found = await super().points(numbers)
            if not other.learning.learns:
                brains.clock.jump(LOST_S)
                await other.learning.turn()
            return found

    one.learning.store = Stopped(brains.rows, "a")
    await one.learning.turn()
    assert (one.learning.learns, other.learning.learns) == (False, True)
    assert (one.known(), other.known()) == ({}, {"a": 3 * AT_ONCE})
    assert one.turns[-1] is None


async def test_all_hear_of_the_flows_that_one_was_told_of(brains: Brains) -> None:
    brains.rows.report("n1", points(), flows=[FLOW])
    brains.rows.report("n2", flows=[FLOW])
    for brain in brains.all:
        await brain.learning.turn()
        assert brain.flows.all(now=NOW) == [("n1", [FLOW]), ("n2", [FLOW])]
        # A report without points is nobody's last use.
        assert brain.watcher.seen == 1
    brains.clock.jump(SAVE_EVERY_S)
    await brains.all[0].learning.turn()
    assert not brains.rows.waiting


async def test_who_is_killed_takes_nothing_with_it(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    await one.learning.turn()
    await one.learning.save()
    brains.rows.report("n1", points("/s/b"))
    await one.learning.turn()
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    assert other.learning.learns
    assert other.known() == {"a": 1, "b": 1}


async def test_who_was_stopped_for_long_saves_nothing(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    await one.learning.turn()
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    await other.learning.save()
    await one.learning.save()
    assert not one.learning.learns
    assert one.known() == {"a": 1}
    brains.rows.report("n1", points())
    await other.learning.turn()
    await one.learning.turn()
    await other.learning.save()
    assert [row.points for row in brains.rows.rows.values()] == [2]


async def test_who_hears_that_it_lost_the_claim_forgets_what_it_had_not_saved(
    brains: Brains,
) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    await one.learning.turn()
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    await one.learning.turn()
    assert (one.learning.learns, one.known()) == (False, {})


async def test_what_cannot_be_read_is_left_out_and_goes_with_the_rest(brains: Brains) -> None:
    brains.rows.spoil()
    brains.rows.report("n1", points())
    await brains.all[0].learning.turn()
    await brains.all[0].learning.save()
    assert brains.all[0].known() == {"a": 1}
    assert not brains.rows.waiting


async def test_a_failed_save_is_made_again_and_counts_once(brains: Brains) -> None:
    one = brains.all[0]
    brains.rows.report("n1", points())
    await one.learning.turn()
    one.store.broken = "gone"
    with pytest.raises(StoreUnavailableError):
        await one.learning.save()
    one.store.broken = None
    await one.learning.turn()
    await one.learning.save()
    assert [row.points for row in brains.rows.rows.values()] == [1]
    assert not brains.rows.waiting


async def test_who_stops_saves_and_lets_another_learn_at_once(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    running = asyncio.Task(one.learning.run())
    await brains.clock.until_sleeping()
    assert one.known() == {"a": 1}
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert not brains.rows.waiting
    await other.learning.turn()
    assert other.learning.learns
    assert other.known() == {"a": 1}


@given(
    st.lists(st.sampled_from(["report", "a", "b", "save a", "save b", "kill a", "kill b", "wait"]))
)
async def test_whatever_happens_each_report_counts_once(steps: list[str]) -> None:
    brains, reported = Brains(), 0
    for step in [*steps, "wait", "a", "save a", "wait", "a", "save a"]:
        number = "ab".find(step[-1])
        match step.split():
            case ["report"]:
                brains.rows.report("n1", points())
                reported += 1
            case ["wait"]:
                brains.clock.jump(LOST_S)
            case ["save", _]:
                await brains.all[number].learning.save()
            case ["kill", _]:
                brains.again(number)
            case _:
                await brains.all[number].learning.turn()
    assert not brains.rows.waiting
    assert sum(row.points for row in brains.rows.rows.values()) == reported


async def test_whoever_begins_to_learn_says_so_once_it_knows_what_waited(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    known: list[dict[str, int]] = []
    one.learning.on_turn = lambda _: known.append(one.known())
    await one.learning.turn()
    await other.learning.turn()
    assert (known, other.turns) == ([{"a": 1}], [])
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    one.learning.on_turn = one.turns.append
    await one.learning.turn()
    assert one.turns == [None]
    assert len(other.turns) == 1


async def test_what_is_learned_from_elsewhere_is_saved_and_the_next_brain_learns_the_rest(
    brains: Brains,
) -> None:
    one, other = brains.all
    first = of_source(one, brains.clock)
    await one.learning.turn()
    await first.warm()
    await first.follow()
    brains.clock.jump(SAVE_EVERY_S)
    await one.learning.save()
    saved_until = one.usages.last_at(KEY)
    brains.clock.jump(3_600)
    # It learns an hour more, and dies before that is saved.
    await first.follow()
    assert one.usages.last_at(KEY) > saved_until
    second = of_source(other, brains.clock)
    brains.clock.jump(LOST_S)
    await other.learning.turn()
    assert other.usages.last_at(KEY) == saved_until
    await second.warm()
    await second.follow()
    (seen,) = other.usages.seen([KEY], now=brains.clock.now())
    assert seen.last_at == one.usages.last_at(KEY)
    assert seen.points == seen.span_s / STEP_S


def of_source(brain: Brain, clock: ManualClock) -> SourceLearning:
    return SourceLearning(
        Recorded(), Known(), brain.usages, fake_process(clock=clock), lambda: True, lambda: 0,
        warm_days=2, follows=True, step_s=STEP_S,
    )  # fmt: skip
