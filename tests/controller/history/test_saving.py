import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.database.claim import Claim, ClaimLostError
from nemutator_controller.history.minutes import CELLS, MINUTE_S
from nemutator_controller.history.saving import EVERY_S, ROWS_STEP, STEP, UsageHistorySaver
from nemutator_controller.history.slices import Slice
from nemutator_controller.history.usage_history import FORGOTTEN_S, UsageHistory

from tests.controller.history.points import NOW, history, key, pod, points, quarters, settle
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.usage_history import MemoryUsageHistory

BEGIN = NOW - NOW % 3600


class Life:
    """One life of a brain."""

    def __init__(
        self, store: MemoryUsageHistory | None = None, *, now: float = BEGIN, most: int = 100
    ) -> None:
        self.clock, self.meter = ManualClock(now), MemoryMeter()
        self.store, self.usage = store or MemoryUsageHistory(), history(most=most)
        process = fake_process(meter=self.meter, clock=self.clock)
        self.saver = UsageHistorySaver(self.usage, self.store, process)

    def use(self, *owners: str, minute: int, cpu: float = 1.0) -> None:
        moment = BEGIN + MINUTE_S * minute
        series = [pod(owner) for owner in owners]
        told = [one for n in range(len(owners)) for one in quarters(moment, 4, of=n, cpu=cpu + n)]
        self.usage.learn("n", points(series, told), now=moment + MINUTE_S)
        settle(self.usage, moment + MINUTE_S)


def all_that_is_known(usage: UsageHistory) -> dict[str, dict[str, list[float]]]:
    found = {}
    for one in usage.known_keys():
        cells = usage.cells(one, begin=BEGIN, end=BEGIN + 86_400)
        week = usage.usual_week(one)
        known = ~np.isnan(cells.pods)
        figures = {
            f"{name} {measure}": values[known].tolist()
            for name, measures in cells.figures.items()
            for measure, values in measures.items()
        }
        usual = {
            f"usual {name}": np.nan_to_num(m["median"]).tolist() for name, m in week.figures.items()
        }
        found[one.owner] = {**figures, "at": cells.at[known].tolist(), **usual}
    return found


async def test_another_life_goes_on_with_what_was_saved() -> None:
    before = Life()
    for minute in range(200):
        before.use("a", "b", minute=minute, cpu=1 + minute % 7)
        if minute % 10 == 0:
            await before.saver.save()
    await before.saver.save()
    after = Life(before.store, now=BEGIN + 200 * MINUTE_S)
    await after.saver.restore()
    assert all_that_is_known(after.usage) == all_that_is_known(before.usage)
    for life in (before, after):
        for minute in range(200, 260):
            life.use("b", "c", minute=minute)
    assert all_that_is_known(after.usage) == all_that_is_known(before.usage)


async def test_what_is_of_another_row_s_time_does_not_come_back() -> None:
    before = Life(most=1)
    before.use("a", minute=0)
    await before.saver.save()
    before.usage.forget(silent_since=BEGIN + 999)
    before.use("b", minute=30)
    await before.saver.save()
    after = Life(before.store, now=BEGIN + 31 * MINUTE_S, most=1)
    await after.saver.restore()
    assert all_that_is_known(after.usage)["b"]["at"] == [BEGIN + 30 * MINUTE_S]


async def test_rows_that_are_gone_are_removed_from_the_store() -> None:
    life = Life()
    life.use("a", "b", minute=0)
    await life.saver.save()
    assert {one.key for one in life.store.kept_rows.values()} == {key("a"), key("b")}
    life.clock.jump(BEGIN + FORGOTTEN_S / 2 - life.clock.now())
    life.use("b", minute=int(FORGOTTEN_S / 2 / MINUTE_S))
    life.clock.jump(BEGIN + FORGOTTEN_S + 999 - life.clock.now())
    await life.saver.save()
    assert {one.key for one in life.store.kept_rows.values()} == {key("b")}
    assert life.meter.value(names.HISTORY_ROWS_DROPPED, reason="age") == 1


async def test_it_is_saved_again_and_again_and_once_more_at_the_end() -> None:
    life = Life()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(life.saver.run())
        await life.clock.until_sleeping()
        life.use("a", minute=0)
        await life.clock.advance(EVERY_S)
        assert len(life.store.kept_rows) == 1
        life.use("b", minute=1)
        task.cancel()
    assert len(life.store.kept_rows) == 2


@pytest.mark.parametrize("later", [1, CELLS, 2 * CELLS + 1])
async def test_a_store_that_fails_is_tried_again_with_all_that_changed(later: int) -> None:
    life = Life()
    life.use("a", minute=0)
    life.store.broken = "full"
    await life.saver.save()
    assert (life.store.kept_rows, life.store.kept) == ({}, {})
    life.store.broken = None
    life.use("a", minute=later)
    await life.saver.save()
    after = Life(life.store, now=BEGIN + MINUTE_S * (later + 1))
    await after.saver.restore()
    assert all_that_is_known(after.usage) == all_that_is_known(life.usage)


class DyingStore(MemoryUsageHistory):
    """The brain dies after so many saves."""

    def __init__(self, *, after: int) -> None:
        super().__init__()
        self.left = after

    async def save(self, rows, gone, slices: Sequence[Slice], claim=None) -> None:  # type: ignore[no-untyped-def]
        if not self.left:
            raise RuntimeError
        self.left -= 1
        await super().save(rows, gone, slices, claim)


async def test_a_save_is_many_small_steps_and_may_end_after_any() -> None:
    for steps in range(4):
        life = Life(DyingStore(after=steps))
        for minute in range(40):
            life.use("a", minute=minute)
        try:
            await life.saver.save()
        except RuntimeError:
            assert life.store.steps == [STEP] * steps
        after = Life(life.store, now=BEGIN + 40 * MINUTE_S)
        await after.saver.restore()
        restored = all_that_is_known(after.usage)
        if not steps:
            assert restored == {}
            continue
        whole = all_that_is_known(life.usage)["a"]
        assert set(restored["a"]["at"]) <= set(whole["at"])


class CountingStore(MemoryUsageHistory):
    """It notes how many rows each save has."""

    def __init__(self) -> None:
        super().__init__()
        self.rows_of_each: list[int] = []

    async def save(self, rows, gone, slices: Sequence[Slice], claim=None) -> None:  # type: ignore[no-untyped-def]
        await super().save(rows, gone, slices, claim)
        self.rows_of_each.append(len(rows))


async def test_many_new_rows_are_saved_in_small_steps_before_what_is_in_them() -> None:
    life, store = Life(most=3 * ROWS_STEP), CountingStore()
    life.saver.store = store
    owners = [f"o{number}" for number in range(2 * ROWS_STEP + 1)]
    life.use(*owners, minute=0)
    await life.saver.save()
    few = [ROWS_STEP, ROWS_STEP, 1]
    assert store.rows_of_each[:3] == few
    assert not any(store.rows_of_each[3:])
    assert store.steps[:2] == [0, 0]
    assert store.steps[2]
    assert {one.key.owner for one in store.kept_rows.values()} == set(owners)
    await life.saver.save()
    assert sum(store.rows_of_each) == len(owners)


async def test_rows_that_were_saved_before_the_store_failed_are_not_saved_again() -> None:
    life, store = Life(DyingStore(after=1), most=3 * ROWS_STEP), CountingStore()
    life.use(*[f"o{number}" for number in range(ROWS_STEP + 1)], minute=0)
    with pytest.raises(RuntimeError):
        await life.saver.save()
    life.saver.store = store
    await life.saver.save()
    assert sum(store.rows_of_each) == 1
    assert store.kept


async def test_a_smaller_limit_keeps_what_fits() -> None:
    before = Life()
    before.use("a", "b", "c", minute=0)
    await before.saver.save()
    after = Life(before.store, now=BEGIN + 60, most=2)
    await after.saver.restore()
    assert [one.owner for one in after.usage.known_keys()] == ["a", "b"]
    assert len(before.store.kept_rows) == 2


async def test_what_is_old_enough_is_settled_again_and_again() -> None:
    life = Life()
    life.use("a", minute=0)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(life.saver.settle())
        await life.clock.until_sleeping()
        for _ in range(300):
            await life.clock.advance(15.0)
        task.cancel()
    assert life.usage.settled_to > BEGIN // MINUTE_S


async def test_who_has_lost_the_claim_saves_nothing_and_says_so() -> None:
    life = Life()
    life.use("a", minute=0)
    life.store.claim = Claim("learner", "other", 2)
    with pytest.raises(ClaimLostError):
        await life.saver.save(Claim("learner", "this", 1))
    assert life.store.kept_rows == {}
    await life.saver.save(life.store.claim)
    assert [one.key.owner for one in life.store.kept_rows.values()] == ["a"]


async def test_a_brain_that_keeps_fewer_rows_removes_none_until_it_has_the_claim() -> None:
    wide = Life()
    wide.use("a", "b", "c", minute=0)
    wide.store.claim = Claim("learner", "wide", 1)
    await wide.saver.save(wide.store.claim)
    narrow = Life(wide.store, now=BEGIN + MINUTE_S, most=2)
    await narrow.saver.restore_anew(None)
    assert len(wide.store.kept_rows) == 3
    assert len(narrow.usage.known_keys()) == 2
    await narrow.saver.restore_anew(wide.store.claim)
    assert len(wide.store.kept_rows) == 2
