import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from nemutator_controller.ingest.learning import (
    FEWEST_POINTS,
    LONG_S,
    MOST_POINTS,
    NEW_SERIES,
    LearningTurns,
    Unlearned,
)
from nemutator_controller.ingest.usage_points import NamedSeries, NodePoints, points_of

from tests.controller.ingest.test_usage_points import envelope, summary
from tests.fakes.clocks import ManualClock


class TickingClock(ManualClock):
    """Whoever works on it says how long that took."""

    elapsed = 0.0

    def monotonic(self) -> float:
        return self.elapsed


@dataclass
class Learner:
    """A `UsageConsumer` that takes *seconds* for each point."""

    clock: TickingClock
    seconds: float = 0.0
    groups: list[list[str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    also: Callable[[], None] = lambda: None

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        self.also()
        self.groups.append([one.node for one in reported])
        self.sizes.append(sum(len(one.points) for one in reported))
        self.clock.elapsed += self.seconds * self.sizes[-1]


def unlearned(node: str, points: int) -> Unlearned:
    summaries = [summary(f"/{number}") for number in range(points)]
    return Unlearned(node, points_of(NamedSeries(), [envelope(1, *summaries)]))


REPORT = unlearned("n", FEWEST_POINTS // 2)


async def learned(turns: LearningTurns, reports: int) -> None:
    """*reports* that come at one moment."""
    await learned_together(turns, [REPORT] * reports)


async def learned_together(turns: LearningTurns, reports: Sequence[Unlearned]) -> None:
    async with asyncio.TaskGroup() as group:
        for one in reports:
            group.create_task(turns.learn([one]))


async def test_each_consumer_has_a_turn_of_its_own_and_others_are_served_between_them() -> None:
    clock, seen = TickingClock(), list[str]()
    learners = [
        Learner(clock, also=lambda name=name: seen.append(name))  # type: ignore[misc]
        for name in ("first", "second")
    ]
    turns = LearningTurns(learners, clock)

    async def somebody_else() -> None:
        while len(seen) < 3:
            await asyncio.sleep(0)
            if seen[-1:] == ["first"]:
                seen.append("somebody else")

    async with asyncio.TaskGroup() as group:
        group.create_task(turns.learn([REPORT]))
        group.create_task(somebody_else())
    assert seen == ["first", "somebody else", "second"]


async def test_long_turns_are_followed_by_smaller_groups_and_short_ones_by_larger() -> None:
    clock = TickingClock()
    learner = Learner(clock)
    turns = LearningTurns([learner], clock)

    def largest() -> int:
        found = max(map(len, learner.groups))
        learner.groups.clear()
        return found

    await learned(turns, 4)
    assert largest() * len(REPORT.points) == FEWEST_POINTS
    for _ in range(8):
        await learned(turns, 80)
    assert largest() * len(REPORT.points) == MOST_POINTS
    learner.seconds = 2 * LONG_S / FEWEST_POINTS
    for _ in range(8):
        await learned(turns, 10)
    learner.groups.clear()
    await learned(turns, 10)
    assert largest() * len(REPORT.points) == FEWEST_POINTS


async def test_of_nodes_that_nobody_knew_yet_fewer_reports_are_learned_together() -> None:
    learner = Learner(TickingClock())
    turns = LearningTurns([learner], learner.clock)
    for _ in range(8):
        await learned(turns, 80)
    learner.groups.clear()
    series = 100
    reports = [unlearned(f"n{number}", series) for number in range(50)]
    await learned_together(turns, reports)
    assert max(map(len, learner.groups)) <= MOST_POINTS // (NEW_SERIES * series)
    learner.groups.clear()
    await learned_together(turns, reports)
    assert [len(group) for group in learner.groups] == [50]
    learner.groups.clear()
    # Agents name their series anew after a start.
    await learned_together(turns, [unlearned(one.node, series) for one in reports])
    assert max(map(len, learner.groups)) <= MOST_POINTS // (NEW_SERIES * series)


async def test_a_report_with_very_many_points_is_learned_in_several_turns() -> None:
    learner = Learner(TickingClock())
    turns = LearningTurns([learner], learner.clock)
    await turns.learn([unlearned("n", 3 * FEWEST_POINTS + 1)])
    assert learner.sizes == [FEWEST_POINTS] * 3 + [1]


async def test_what_comes_while_a_group_is_learned_is_of_the_next_one() -> None:
    clock = TickingClock()
    learner = Learner(clock)
    turns = LearningTurns([learner, Learner(clock)], clock)
    async with asyncio.TaskGroup() as group:

        def more() -> None:
            learner.also = lambda: None
            group.create_task(turns.learn([unlearned("late", 1)]))

        learner.also = more
        await turns.learn([unlearned("early", 1)])
    assert learner.groups == [["early"], ["late"]]


async def test_what_nobody_waits_for_is_learned_with_the_others_and_its_failure_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = TickingClock()
    learner = Learner(clock)
    turns = LearningTurns([learner], clock)
    turns.learn_late([unlearned("late", 1)])
    await turns.learn([unlearned("n", 1)])
    assert learner.groups == [["late", "n"]]

    def fail() -> None:
        raise ValueError("no")

    learner.also = fail
    turns.learn_late([unlearned("late", 1)])
    with pytest.raises(ValueError, match="no"):
        await turns.learn([unlearned("n", 1)])
    assert [record.message for record in caplog.records] == ["late_reports_not_learned"]
