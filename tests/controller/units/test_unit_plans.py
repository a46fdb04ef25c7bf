from dataclasses import replace

import pytest
from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.units.unit_plans import (
    TAKEN_BACK,
    RecommendedUnit,
    UnitPlan,
    overruled,
    unit_plan,
)
from nemutator_controller.units.unit_states import UnitState

from tests.fakes.units import USUAL

ADVISED = RecommendedUnit(cpu_millis=500, memory_bytes=412_000_000, reason="")
FILE = "/etc/systemd/system/shop.service.d/50-nemutator.conf"


def plan(
    state: UnitState = USUAL,
    recommended: RecommendedUnit = ADVISED,
    *,
    before: Maybe = (),
    unified: bool = True,
    taken_back: bool = False,
) -> UnitPlan | str:
    return unit_plan(
        state, recommended, file=FILE, before=before, unified=unified, taken_back=taken_back
    )


def made(**words: object) -> UnitPlan:
    found = plan(**words)  # type: ignore[arg-type]
    assert isinstance(found, UnitPlan)
    return found


def test_both_values_are_shown_as_they_are_and_as_they_would_be() -> None:
    found = made()
    assert [(one.setting, one.now, one.wanted) for one in found.values] == [
        ("CPUWeight", "100", "59"),
        ("MemoryHigh", "infinity", "412000000"),
    ]
    assert "CPUWeight=59\nMemoryHigh=412000000\n" in found.content
    assert not found.is_done
    assert made(before=(found.content,)).is_done


def test_a_weight_that_comes_down_is_warned_of() -> None:
    assert any("comes down from 100" in one for one in made().warnings)
    heavy = replace(ADVISED, cpu_millis=2_000)
    assert not made(recommended=heavy).warnings


def test_a_unit_that_is_to_run_only_while_nobody_else_wants_the_cpu_gets_no_weight() -> None:
    idle = replace(USUAL, is_idle=True)
    found = made(state=idle)
    assert [one.setting for one in found.values] == ["MemoryHigh"]
    assert [one for one in found.warnings if "CPUWeight=idle" in one]
    nothing = plan(idle, replace(ADVISED, memory_bytes=None))
    assert isinstance(nothing, str)
    assert "CPUWeight=idle" in nothing


@pytest.mark.parametrize(
    ("state", "recommended", "unified", "why"),
    [
        (USUAL, replace(ADVISED, memory_bytes=None), True, "no limit of memory is recommended"),
        (USUAL, ADVISED, False, "version 1 do not have it"),
        (replace(USUAL, memory_max=412_000_000), ADVISED, True, "MemoryMax=412000000 is not above"),
    ],
)
def test_memory_is_left_out_where_it_may_not_be_given_and_says_why(
    state: UnitState, recommended: RecommendedUnit, unified: bool, why: str
) -> None:
    found = made(state=state, recommended=recommended, unified=unified)
    assert [one.setting for one in found.values] == ["CPUWeight"]
    assert any(why in one for one in found.warnings)


def test_where_nothing_is_left_to_give_the_plan_is_a_reason() -> None:
    nothing = RecommendedUnit(cpu_millis=None, memory_bytes=None, reason="this memory grows")
    found = plan(recommended=nothing)
    assert isinstance(found, str)
    assert "this memory grows" in found


def test_what_was_taken_back_and_what_is_transient_is_said() -> None:
    found = made(state=replace(USUAL, is_transient=True), taken_back=True)
    assert TAKEN_BACK in found.warnings
    assert any("transient" in one for one in found.warnings)


def test_a_later_file_that_wins_is_named() -> None:
    other = "/etc/systemd/system/shop.service.d/90-ours.conf"
    state = replace(USUAL, cpu_weight=20, memory_high=412_000_000, drop_ins=(FILE, other))
    assert overruled(made(), state) == [f"CPUWeight is 20 all the same: {other} comes after it"]
    assert overruled(made(), replace(state, cpu_weight=59)) == []


def test_what_systemd_did_not_take_is_said_without_a_file_to_blame() -> None:
    state = replace(USUAL, cpu_weight=59, drop_ins=(FILE,))
    assert overruled(made(), state) == ["MemoryHigh is infinity all the same"]
