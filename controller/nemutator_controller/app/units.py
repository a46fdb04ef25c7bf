"""Units of systemd, put together where there is no cluster: sized, and taken back."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nemutator_common import names

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import WRITER
from nemutator_controller.app.parts import Part
from nemutator_controller.app.sizing import LocalAdvice
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.ports import Objects
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.journal.stand_ins import StandIn
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.decisions import Decision, Edit, Maybe, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import UNIT, value_at
from nemutator_controller.sizing.documents import advice_list
from nemutator_controller.units.endpoint import UnitsApi
from nemutator_controller.units.files import DropInFiles
from nemutator_controller.units.ports import DropIns, UnitManager
from nemutator_controller.units.refusals import (
    DropInChangedError,
    UnitRefusedError,
    UnitsUnavailableError,
)
from nemutator_controller.units.systemctl import Systemctl
from nemutator_controller.units.unit_plans import RecommendedUnit
from nemutator_controller.units.unit_sizing import DROP_IN, UnitSizing, unit_subject

UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers")
"""Is there where control groups are of version 2."""


def units_part(context: BrainContext, advice: LocalAdvice) -> Part:
    if context.cluster is not None:
        return Part()
    sizing = UnitSizing(
        UnitAdviceOfMachine(advice),
        Systemctl(),
        DropInFiles(Path(context.settings.unit_folder)),
        UnitJournalOfBrain(SqlJournal(context.database)),
        fresh=lambda: uuid.uuid4().hex,
        process=context.process,
        unified=UNIFIED.exists(),
    )
    return Part(routes=UnitsApi(sizing).routes())


def units_beside(objects: Objects, context: BrainContext) -> Objects:
    """*objects*, and units, whose drop-ins are taken back like changes of them."""
    return ObjectsAndUnits(objects, DropInFiles(Path(context.settings.unit_folder)), Systemctl())


@dataclass(frozen=True, slots=True)
class UnitAdviceOfMachine:
    """The `UnitAdvice`."""

    advice: LocalAdvice

    def of(self, unit: str, namespace: str) -> RecommendedUnit | str:
        keys = self.advice.keys(StandIn("unit", unit, namespace))
        if not keys:
            return f"nothing was reported of it in {namespace} yet"
        now = self.advice.clock.now()
        [found] = advice_list(
            self.advice.usages.columns(keys, now=now), {}, self.advice.growing, now=now
        )
        if found.state != "firm":
            return f"the advice is {found.state.replace('_', ' ')}: {found.reason}"
        cpu, memory = found.requests.cpu, found.limits.memory
        return RecommendedUnit(
            cpu_millis=None if cpu is None else parse_quantity(cpu).to_millis(),
            memory_bytes=None if memory is None else parse_quantity(memory).to_bytes(),
            reason=found.reason,
        )


@dataclass(frozen=True, slots=True)
class UnitJournalOfBrain:
    """The `UnitJournal`."""

    journal: SqlJournal

    async def add(self, decision: Decision) -> None:
        await self.journal.add([decision], writer=WRITER, state="answered")

    async def done(self, decision: Decision) -> None:
        await self.journal.seen(decision.id, name=decision.subject.name, uid="")

    async def is_taken_back(self, unit: str) -> bool:
        return bool(await self._of(unit))

    async def forget(self, unit: str) -> None:
        if found := await self._of(unit):
            await self.journal.forget(found)

    async def _of(self, unit: str) -> Sequence[Any]:
        kept = (each.tombstone for each in await self.journal.tombstones())
        return [one for one in kept if (one.owner_kind, one.owner_name) == (UNIT, unit)]


@dataclass(frozen=True, slots=True)
class ObjectsAndUnits:
    """`Objects`, where a unit is the drop-in that we have written, so that it is taken back like a mutation."""

    objects: Objects
    drop_ins: DropIns
    manager: UnitManager

    @property
    def running(self) -> bool:
        return self.objects.running

    async def get(self, subject: Subject) -> LiveObject | None:
        if subject.kind != UNIT:
            return await self.objects.get(subject)
        try:
            return _live(subject, await self.drop_ins.read(subject.name))
        except (UnitRefusedError, UnitsUnavailableError) as error:
            raise _failure(error) from error

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        return await self.objects.find(subject, decision)

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        if live.subject.kind != UNIT:
            return await self.objects.write(live, edits, resize=resize)
        unit, after = live.subject.name, _after(live, edits)
        try:
            await self.drop_ins.replace(unit, before=_content(live.document), after=after)
            await self.manager.reload()
        except DropInChangedError as error:
            raise ChangedError("the drop-in was changed meanwhile") from error
        except (UnitRefusedError, UnitsUnavailableError) as error:
            raise _failure(error) from error
        return _live(live.subject, after)

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        if live.subject.kind != UNIT:
            await self.objects.rehearse(live, edits, resize=resize)
            return
        try:
            await self.drop_ins.check(live.subject.name)
        except (UnitRefusedError, UnitsUnavailableError) as error:
            raise _failure(error) from error

    async def evict(self, live: LiveObject) -> None:
        await self.objects.evict(live)


def _live(subject: Subject, content: Maybe) -> LiveObject:
    document = {
        "apiVersion": names.API_VERSION,
        "kind": UNIT,
        "metadata": {"name": subject.name},
        "spec": {DROP_IN: content[0]} if content else {},
    }
    version = hashlib.sha256(repr(content).encode()).hexdigest()
    return LiveObject(
        subject=replace(unit_subject(subject.name), uid=""), document=document, version=version
    )


def _after(live: LiveObject, edits: Iterable[Edit]) -> Maybe:
    ours = [edit for edit in edits if edit.path == DROP_IN]
    return _content(apply_edits(live.document, ours, UNIT))


def _content(document: Mapping[str, Any]) -> Maybe:
    return value_at(document, parse_path(DROP_IN), UNIT)


def _failure(
    error: UnitRefusedError | UnitsUnavailableError,
) -> ObjectRefusedError | UnreachableError:
    if isinstance(error, UnitRefusedError):
        return ObjectRefusedError(f"{error}: {error.remedy}")
    return UnreachableError(str(error), remedy=error.remedy)
