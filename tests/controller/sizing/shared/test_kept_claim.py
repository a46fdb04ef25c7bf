"""How the brain that learns keeps its claim, and what one does that has lost it."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from nemutator_controller.database.claim import Claim
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.shared.kept_points import WaitingPoints
from nemutator_controller.sizing.shared.learning import AT_ONCE, TURN_S

from tests.controller.sizing.shared.brains import LOST_S, Brain, Brains, points
from tests.fakes.shared_usages import MemorySharedUsages


@pytest.fixture
def brains() -> Brains:
    return Brains()


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


async def test_who_reads_for_longer_than_a_claim_lasts_keeps_it(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())

    class Large(MemorySharedUsages):
        async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
            await brains.clock.until_sleeping()
            await brains.clock.advance(LOST_S)
            await other.learning.turn()
            return await super().load(heard_since=heard_since)

    one.learning.store = Large(brains.rows, "a")
    await one.learning.turn()
    assert (one.learning.learns, other.learning.learns) == (True, False)
    assert brains.clock.sleepers == 0


async def test_who_loses_the_claim_while_it_reads_does_not_begin(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())

    class Stopped(MemorySharedUsages):
        async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
            brains.clock.jump(LOST_S)
            await other.learning.turn()
            return await super().load(heard_since=heard_since)

    one.learning.store = Stopped(brains.rows, "a")
    await one.learning.turn()
    assert (one.learning.learns, other.learning.learns) == (False, True)
    assert (one.turns, one.known()) == ([], {})


async def test_who_cannot_read_what_was_saved_tries_again(brains: Brains) -> None:
    one = brains.all[0]
    brains.rows.report("n1", points())

    class Silent(MemorySharedUsages):
        async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
            raise StoreUnavailableError("deadline")

    one.learning.store = Silent(brains.rows, "a")
    with pytest.raises(StoreUnavailableError):
        await one.learning.turn()
    assert not one.learning.learns
    one.learning.store = one.store
    await one.learning.turn()
    assert one.known() == {"a": 1}


async def test_what_is_saved_beside_is_saved_by_who_holds_the_claim(brains: Brains) -> None:
    one, other = brains.all
    brains.rows.report("n1", points())
    await one.learning.turn()
    await other.learning.turn()
    # Who only shows what is saved may not write.
    assert one.beside.restored_by == [brains.rows.claim]
    assert other.beside.restored_by == [None]

    class StoppedBehindTheRows(MemorySharedUsages):
        async def save(
            self,
            claim: Claim,
            kept: Mapping[ContainerKey, SavedUsage],
            gone: Collection[ContainerKey],
            learned: Collection[int],
        ) -> bool:
            saved = await super().save(claim, kept, gone, learned)
            brains.clock.jump(LOST_S)
            await other.learning.turn()
            return saved

    one.learning.store = StoppedBehindTheRows(brains.rows, "a")
    await one.learning.save()
    assert (one.learning.learns, other.learning.learns) == (False, True)
    assert one.beside.saved == 0
    assert one.turns[-1] is None


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


async def test_a_store_that_was_set_back_is_noticed_and_what_comes_then_is_learned(
    brains: Brains,
) -> None:
    one = brains.all[0]
    brains.rows.report("n1", points())
    await one.learning.turn()
    await one.learning.save()
    restore = brains.rows.copy()
    brains.rows.report("n1", points())
    brains.clock.jump(TURN_S)
    await one.learning.turn()
    assert one.known() == {"a": 2}
    restore()
    # It gets the number of the one that is lost.
    brains.rows.report("n1", points("/s/b"))
    for _ in range(2):
        brains.clock.jump(TURN_S)
        await one.learning.turn()
    assert one.learning.learns
    assert one.known() == {"a": 1, "b": 1}
    await one.learning.save()
    assert {key.owner: row.points for key, row in brains.rows.rows.items()} == {"a": 1, "b": 1}
