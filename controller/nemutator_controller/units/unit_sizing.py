"""Gives units what is recommended: planned, journaled, written, and read back."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.paths import UNIT
from nemutator_controller.mutations.resources import VERB
from nemutator_controller.units.ports import DropIns, UnitAdvice, UnitJournal, UnitManager
from nemutator_controller.units.refusals import DropInChangedError, UnitRefusedError
from nemutator_controller.units.unit_names import name_fault
from nemutator_controller.units.unit_plans import SizedUnit, UnitPlan, overruled, unit_plan
from nemutator_controller.units.unit_states import UnitState

DROP_IN = "dropIn"
"""The path of the one field that a unit has as an object of the journal: the content of our file."""

ADVISES = "`nemutator advise` lists the units that were seen"


@dataclass(frozen=True, slots=True)
class UnitSizing:
    advice: UnitAdvice
    manager: UnitManager
    drop_ins: DropIns
    journal: UnitJournal
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    process: Process
    unified: bool
    """Whether control groups are of version 2."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def plan(self, unit: str) -> SizedUnit:
        """Raises the errors of the ports."""
        return SizedUnit(plan=await self._plan(unit), outcome="planned")

    async def give(self, unit: str) -> SizedUnit:
        """The same. After an error nothing has changed, or giving it again does no harm."""
        async with self._turn:
            plan = await self._plan(unit)
            if plan.is_done:
                if any(one.now != one.wanted for one in plan.values):
                    # It was written, and systemd was not reached then.
                    plan = await self._read_again(plan)
                return SizedUnit(plan=plan, outcome="unchanged")
            # The journal must not show a change that is refused afterwards.
            await self.drop_ins.check(plan.unit)
            decision = self._decision(plan)
            await self.journal.add(decision)
            try:
                await self.drop_ins.replace(plan.unit, before=plan.before, after=(plan.content,))
            except DropInChangedError as error:
                raise UnitRefusedError(
                    f"{plan.file} was changed meanwhile", "read the plan again"
                ) from error
            await self.journal.done(decision)
            await self.journal.forget(plan.unit)
            return SizedUnit(
                plan=await self._read_again(plan),
                outcome="changed" if plan.before else "created",
                decision=decision.id,
            )

    async def _read_again(self, plan: UnitPlan) -> UnitPlan:
        """Have systemd read the file; the plan warns of what it has not taken."""
        await self.manager.reload()
        after = await self.manager.state(plan.unit)
        if after is None:
            return plan
        return replace(plan, warnings=(*plan.warnings, *overruled(plan, after)))

    async def _plan(self, unit: str) -> UnitPlan:
        if fault := name_fault(unit):
            raise UnitRefusedError(fault, ADVISES)
        state = await self.manager.state(unit)
        if state is None:
            raise UnitRefusedError(
                f"systemd has no unit {unit} that could run", "`systemctl list-units` shows them"
            )
        if state.name != unit:
            raise UnitRefusedError(
                f"{unit} is another name of {state.name}", f"`nemutator size {state.name}`"
            )
        return await self._plan_of(state)

    async def _plan_of(self, state: UnitState) -> UnitPlan:
        unit = state.name
        recommended = self.advice.of(unit, state.namespace)
        if isinstance(recommended, str):
            raise UnitRefusedError(f"{unit}: {recommended}", ADVISES)
        made = unit_plan(
            state,
            recommended,
            file=self.drop_ins.place(unit),
            before=await self.drop_ins.read(unit),
            unified=self.unified,
            taken_back=await self.journal.is_taken_back(unit),
        )
        if isinstance(made, str):
            raise UnitRefusedError(f"{unit}: {made}", "`nemutator explain` says how it comes about")
        return made

    def _decision(self, plan: UnitPlan) -> Decision:
        edit = Edit(
            path=DROP_IN,
            before=plan.before,
            after=(plan.content,),
            verb=VERB,
            policy="",
            reason=plan.reason,
        )
        return Decision(
            id=self.fresh(),
            at=self.process.clock.now(),
            request_uid="",
            operation="SIZE",
            mode="apply",
            subject=unit_subject(plan.unit),
            edits=(edit,),
            warnings=plan.warnings,
        )


def unit_subject(unit: str) -> Subject:
    return Subject(api_version=names.API_VERSION, kind=UNIT, namespace="", name=unit)
