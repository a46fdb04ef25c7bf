import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.sizing.shared.learning import SAVE_EVERY_S, SHOWN_EVERY_S
from nemutator_controller.sizing.sources.source_learning import SourceLearning

from tests.controller.sizing.shared.brains import FLOW, LOST_S, Brain, Brains, points
from tests.controller.sizing.sources.test_source_learning import KEY, STEP_S, Known, Recorded
from tests.controller.sizing.test_usages import NOW
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process


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
