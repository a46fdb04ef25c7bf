"""What a unit would be given, from what is recommended for it and what it has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.units.drop_ins import USUAL_WEIGHT, cpu_weight, drop_in
from nemutator_controller.units.unit_states import UnitState

TAKEN_BACK = "it was taken back before; to give it again forgets that"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedUnit:
    cpu_millis: int | None
    memory_bytes: int | None
    """As a limit: None before there is enough data for one."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitValue:
    """One line of the drop-in."""

    setting: str
    now: str
    wanted: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPlan:
    unit: str
    file: str
    before: Maybe
    """The content of that file now."""
    content: str
    values: tuple[UnitValue, ...]
    warnings: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return self.before == (self.content,)

    @property
    def reason(self) -> str:
        return "; ".join(f"{one.setting} {one.wanted}: {one.reason}" for one in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedUnit:
    plan: UnitPlan
    outcome: Literal["planned", "unchanged", "created", "changed"]
    decision: str = ""
    """Its id; empty when nothing was changed."""


def unit_plan(
    state: UnitState,
    recommended: RecommendedUnit,
    *,
    file: str,
    before: Maybe,
    unified: bool,
    taken_back: bool,
) -> UnitPlan | str:
    """The plan, or why there is nothing to give. *unified*: control groups are of version 2."""
    weight, no_weight = _weight(state, recommended)
    high, no_high = _memory_high(state, recommended, unified=unified)
    if weight is None and high is None:
        return "; ".join(filter(None, (no_weight, no_high, recommended.reason)))
    warnings = [*_warnings(state, weight), *filter(None, (no_weight, no_high))]
    if taken_back:
        warnings.append(TAKEN_BACK)
    return UnitPlan(
        unit=state.name,
        file=file,
        before=before,
        content=drop_in(weight=weight, memory_high=high),
        values=tuple(_values(state, recommended, weight, high)),
        warnings=tuple(warnings),
    )


def overruled(plan: UnitPlan, state: UnitState) -> list[str]:
    """What *state*, which systemd has read anew, does not have of the plan."""
    has = {"CPUWeight": state.cpu_weight, "MemoryHigh": state.memory_high}
    last = f": {state.drop_ins[-1]} comes after it" if state.drop_ins[-1:] != (plan.file,) else ""
    return [
        f"{one.setting} is {_shown(has[one.setting])} all the same{last if state.drop_ins else ''}"
        for one in plan.values
        if str(has[one.setting]) != one.wanted
    ]


def _weight(state: UnitState, recommended: RecommendedUnit) -> tuple[int | None, str]:
    if recommended.cpu_millis is None:
        return None, ""
    if state.is_idle:
        return None, "no CPUWeight: with its CPUWeight=idle it runs while nobody else wants the CPU"
    return cpu_weight(recommended.cpu_millis), ""


def _memory_high(
    state: UnitState, recommended: RecommendedUnit, *, unified: bool
) -> tuple[int | None, str]:
    wanted = recommended.memory_bytes
    if wanted is None:
        return None, "no MemoryHigh: no limit of memory is recommended"
    if not unified:
        return None, "no MemoryHigh: control groups of version 1 do not have it"
    if state.memory_max is not None and wanted >= state.memory_max:
        return None, f"no MemoryHigh: MemoryMax={state.memory_max} is not above what is recommended"
    return wanted, ""


def _values(
    state: UnitState, recommended: RecommendedUnit, weight: int | None, high: int | None
) -> Iterator[UnitValue]:
    if weight is not None:
        why = f"{recommended.cpu_millis}m of CPU recommended, where a core is {USUAL_WEIGHT}"
        now = USUAL_WEIGHT if state.cpu_weight is None else state.cpu_weight
        yield UnitValue(setting="CPUWeight", now=str(now), wanted=str(weight), reason=why)
    if high is not None:
        now_high = _shown(state.memory_high)
        why = "recommended as a limit of memory"
        yield UnitValue(setting="MemoryHigh", now=now_high, wanted=str(high), reason=why)


def _warnings(state: UnitState, weight: int | None) -> Iterator[str]:
    now = USUAL_WEIGHT if state.cpu_weight is None else state.cpu_weight
    if weight is not None and weight < now:
        yield (
            f"CPUWeight comes down from {now}: while all CPUs are busy it gets less than units that"
            " were not sized"
        )
    if state.is_transient:
        yield "it is a transient unit: the drop-in stays for the next one of its name"


def _shown(amount: int | None) -> str:
    return "infinity" if amount is None else str(amount)
