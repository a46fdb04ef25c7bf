"""Each switch is journaled before it counts, and what was taken back is held."""

import pytest
from nemutator_common import names
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.seasons.day_book import CLUSTER
from nemutator_controller.seasons.records import IN_FORCE, SeasonedPolicy
from nemutator_controller.seasons.switching import SeasonSwitching, tombstone_of

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.seasons import (
    MemorySeasoned,
    MemorySeasons,
    MemorySwitches,
    MemorySwitchJournal,
)

BUSY = SeasonedPolicy(kind="MutationPolicy", name="busy", seasons=("peak",))


class Play:
    def __init__(self) -> None:
        self.seasons, self.policies = MemorySeasons(), MemorySeasoned(BUSY)
        self.journal, self.store = MemorySwitchJournal(), MemorySwitches()
        self.meter, self.told, self.made = MemoryMeter(), 0, 0
        self.seasons.seasons[CLUSTER] = "off-peak"
        self.engine = self.started()

    def started(self) -> SeasonSwitching:
        return SeasonSwitching(
            self.seasons,
            self.policies,
            self.journal,
            self.store,
            fake_process(clock=ManualClock(1_000.0), meter=self.meter),
            fresh=self._fresh,
            changed=self._tell,
        )

    @property
    def busy(self) -> bool:
        return "busy" in self.engine.in_force("MutationPolicy")

    def _fresh(self) -> str:
        self.made += 1
        return f"d{self.made}"

    def _tell(self) -> None:
        self.told += 1


async def test_a_switch_is_journaled_with_its_reason_and_counted() -> None:
    play = Play()
    await play.engine.check()
    assert (play.journal.decisions, play.busy) == ([], False)

    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    [decision] = play.journal.decisions
    [edit] = decision.edits
    assert (decision.operation, decision.subject.kind) == ("SWITCH", "MutationPolicy")
    assert (edit.path, edit.before, edit.after) == (IN_FORCE, ("false",), ("true",))
    assert edit.reason == "the season of the cluster is peak"
    assert play.busy
    assert play.store.switches[0].decision == "d1"
    assert play.meter.value(names.SEASON_SWITCHES, kind="MutationPolicy", to="on") == 1
    told = play.told
    await play.engine.check()
    assert (len(play.journal.decisions), play.told) == (1, told)


async def test_without_the_journal_nothing_is_switched() -> None:
    play = Play()
    await play.engine.check()
    play.seasons.seasons[CLUSTER], play.journal.is_away = "peak", True
    with pytest.raises(StoreUnavailableError):
        await play.engine.check()
    assert not play.busy
    play.journal.is_away = False
    await play.engine.check()
    assert play.busy


async def test_nothing_is_decided_before_seasons_and_policies_are_known() -> None:
    play = Play()
    play.seasons.seasons[CLUSTER] = "peak"
    play.seasons.is_settled = False
    await play.engine.check()
    play.seasons.is_settled, play.policies.policies = True, None
    await play.engine.check()
    assert not play.busy


async def test_a_restart_changes_nothing() -> None:
    play = Play()
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    play.engine = play.started()
    await play.engine.check()
    assert play.busy
    assert len(play.journal.decisions) == 1


async def test_a_switch_that_was_taken_back_stays_so_until_the_season_is_over() -> None:
    play = Play()
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    play.journal.stones = [tombstone_of(BUSY.key)]
    assert await play.engine.hold(BUSY.key, in_force=False)
    await play.engine.check()
    assert not play.busy

    play.seasons.seasons[CLUSTER] = "off-peak"
    await play.engine.check()
    assert play.journal.stones == []
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    assert play.busy


async def test_a_forgotten_tombstone_lets_the_season_switch_again() -> None:
    play = Play()
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    play.journal.stones = [tombstone_of(BUSY.key)]
    await play.engine.hold(BUSY.key, in_force=False)
    play.journal.stones = []
    await play.engine.check()
    assert play.busy


async def test_what_is_not_there_cannot_be_held() -> None:
    assert not await Play().engine.hold(("SizingPolicy", "none"), in_force=True)


async def test_who_does_not_lead_shows_what_the_leader_has_switched_and_goes_on_from_there() -> (
    None
):
    play = Play()
    follower = play.started()
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    await follower.follow(lambda: False)
    assert follower.in_force("MutationPolicy") == {"busy"}

    # The other one ends, and what it has switched is not switched again.
    await follower.restore()
    await follower.check()
    assert len(play.journal.decisions) == 1
    play.seasons.seasons[CLUSTER] = "off-peak"
    await follower.check()
    assert follower.in_force("MutationPolicy") == frozenset()
    assert len(play.journal.decisions) == 2


async def test_whoever_has_begun_to_lead_meanwhile_keeps_what_it_knows() -> None:
    play = Play()
    play.seasons.seasons[CLUSTER] = "peak"
    await play.engine.check()
    play.store.switches = []
    await play.engine.follow(lambda: True)
    assert play.busy
