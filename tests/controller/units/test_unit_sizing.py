from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_controller.mutations.paths import UNIT
from nemutator_controller.units.files import DropInFiles
from nemutator_controller.units.refusals import UnitRefusedError, UnitsUnavailableError
from nemutator_controller.units.unit_plans import RecommendedUnit
from nemutator_controller.units.unit_sizing import UnitSizing

from tests.fakes.process import fake_process
from tests.fakes.units import USUAL, MemoryManager, MemoryUnitJournal, SaidAdvice

ADVISED = RecommendedUnit(cpu_millis=500, memory_bytes=412_000_000, reason="")
SHOP = "shop.service"


@dataclass
class Play:
    folder: Path
    manager: MemoryManager
    advice: SaidAdvice
    journal: MemoryUnitJournal
    sizing: UnitSizing

    @property
    def file(self) -> Path:
        return self.folder / "shop.service.d" / "50-nemutator.conf"


@pytest.fixture
def play(tmp_path: Path) -> Play:
    manager, journal = MemoryManager(tmp_path), MemoryUnitJournal()
    advice = SaidAdvice({(SHOP, "system.slice"): ADVISED})
    numbers = iter(range(100))
    sizing = UnitSizing(
        advice,
        manager,
        DropInFiles(tmp_path),
        journal,
        fresh=lambda: f"m{next(numbers)}",
        process=fake_process(),
        unified=True,
    )
    return Play(tmp_path, manager, advice, journal, sizing)


async def test_a_plan_writes_nothing_and_journals_nothing(play: Play) -> None:
    sized = await play.sizing.plan(SHOP)
    assert (sized.outcome, sized.decision) == ("planned", "")
    assert "CPUWeight=59" in sized.plan.content
    assert [*play.folder.iterdir(), *play.journal.added] == []
    assert play.manager.reloads == 0


async def test_what_is_given_is_journaled_written_and_read_by_systemd(play: Play) -> None:
    sized = await play.sizing.give(SHOP)
    assert (sized.outcome, sized.decision) == ("created", "m0")
    assert play.file.read_text() == sized.plan.content
    [decision] = play.journal.added
    assert (decision.subject.kind, decision.subject.name) == (UNIT, SHOP)
    [edit] = decision.edits
    assert (edit.before, edit.after) == ((), (sized.plan.content,))
    assert "500m of CPU recommended" in edit.reason
    assert play.journal.finished == ["m0"]
    state = await play.manager.state(SHOP)
    assert state is not None
    assert (state.cpu_weight, state.memory_high) == (59, 412_000_000)


async def test_the_same_advice_again_changes_nothing_and_another_one_keeps_what_was(
    play: Play,
) -> None:
    first = await play.sizing.give(SHOP)
    again = await play.sizing.give(SHOP)
    assert (again.outcome, len(play.journal.added)) == ("unchanged", 1)
    play.advice.known[SHOP, "system.slice"] = replace(ADVISED, cpu_millis=1_000)
    other = await play.sizing.give(SHOP)
    assert other.outcome == "changed"
    assert play.journal.added[1].edits[0].before == (first.plan.content,)


async def test_a_file_of_somebody_else_is_in_the_journal_before_it_is_replaced(play: Play) -> None:
    play.file.parent.mkdir()
    play.file.write_text("[Service]\nCPUWeight=7\n# mine\n")
    await play.sizing.give(SHOP)
    assert play.journal.added[0].edits[0].before == ("[Service]\nCPUWeight=7\n# mine\n",)


async def test_giving_again_what_was_taken_back_forgets_that(play: Play) -> None:
    play.journal.taken_back.add(SHOP)
    sized = await play.sizing.give(SHOP)
    assert any("taken back before" in one for one in sized.plan.warnings)
    assert not play.journal.taken_back


async def test_an_alias_a_stranger_and_a_name_that_leads_away_are_refused(play: Play) -> None:
    play.manager.units = {**play.manager.units, "alias.service": USUAL}
    for name, why in (
        ("alias.service", "another name of shop.service"),
        ("none.service", "no unit none.service"),
        ("../shop.service", "expected letters"),
        ("shop@.service", "a template does not run"),
    ):
        with pytest.raises(UnitRefusedError, match=why):
            await play.sizing.give(name)
    assert [*play.folder.iterdir(), *play.journal.added] == []


async def test_what_was_seen_in_another_control_group_is_not_this_units(play: Play) -> None:
    play.manager.units = {SHOP: replace(USUAL, namespace="store.slice")}
    with pytest.raises(UnitRefusedError, match=r"nothing was reported of it in store\.slice"):
        await play.sizing.give(SHOP)


async def test_without_rights_nothing_is_in_the_journal(play: Play) -> None:
    play.sizing = replace(play.sizing, drop_ins=DropInFiles(play.folder / "none"))
    with pytest.raises(UnitsUnavailableError):
        await play.sizing.give(SHOP)
    assert play.journal.added == []


async def test_a_file_that_wins_over_ours_is_told(play: Play) -> None:
    later = play.file.with_name("90-theirs.conf")
    later.parent.mkdir()
    later.write_text("[Service]\nCPUWeight=20\n")
    sized = await play.sizing.give(SHOP)
    assert f"CPUWeight is 20 all the same: {later} comes after it" in sized.plan.warnings


async def test_what_systemd_did_not_read_is_read_when_it_is_given_again(play: Play) -> None:
    play.manager.stuck = True
    with pytest.raises(UnitsUnavailableError, match="daemon-reload"):
        await play.sizing.give(SHOP)
    play.manager.stuck = False
    again = await play.sizing.give(SHOP)
    assert (again.outcome, len(play.journal.added), play.manager.reloads) == ("unchanged", 1, 1)
    state = await play.manager.state(SHOP)
    assert state is not None
    assert state.cpu_weight == 59
    await play.sizing.give(SHOP)
    assert play.manager.reloads == 1


async def test_where_systemd_does_not_answer_nothing_is_planned(play: Play) -> None:
    play.manager.away = True
    with pytest.raises(UnitsUnavailableError, match="exit code 1"):
        await play.sizing.give(SHOP)
    assert play.journal.added == []
