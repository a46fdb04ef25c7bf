"""A systemd in memory, which reads the drop-ins of a folder as the real one does, and what units ask for beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.units.refusals import UnitsUnavailableError
from nemutator_controller.units.unit_plans import RecommendedUnit
from nemutator_controller.units.unit_states import UnitState

USUAL = UnitState(
    name="shop.service",
    namespace="system.slice",
    is_transient=False,
    cpu_weight=None,
    memory_high=None,
    memory_max=None,
)


@dataclass
class MemoryManager:
    """A `UnitManager`: units by any of their names, with what the drop-ins in *folder* say of them."""

    folder: Path
    units: Mapping[str, UnitState] = field(default_factory=lambda: {USUAL.name: USUAL})
    away: bool = False
    stuck: bool = False
    """It answers, and reads no files."""
    reloads: int = 0
    _read: dict[str, UnitState] = field(default_factory=dict)

    async def state(self, unit: str) -> UnitState | None:
        self._work()
        known = self.units.get(unit)
        return None if known is None else self._read.get(known.name, known)

    async def reload(self) -> None:
        self._work()
        if self.stuck:
            raise UnitsUnavailableError("systemctl daemon-reload: does not answer", "ask again")
        self.reloads += 1
        self._read = {one.name: self._with_files(one) for one in self.units.values()}

    def _with_files(self, known: UnitState) -> UnitState:
        files = sorted(self.folder.glob(f"{known.name}.d/*.conf"), key=lambda file: file.name)
        said: dict[str, int] = {}
        for file in files:
            pairs = (line.split("=") for line in file.read_text().splitlines() if "=" in line)
            said |= {key: int(value) for key, value in pairs if not key.startswith("#")}
        return replace(
            known,
            cpu_weight=said.get("CPUWeight", known.cpu_weight),
            memory_high=said.get("MemoryHigh", known.memory_high),
            drop_ins=tuple(map(str, files)),
        )

    def _work(self) -> None:
        if self.away:
            raise UnitsUnavailableError("systemctl: exit code 1", "run it as root")


@dataclass
class SaidAdvice:
    """A `UnitAdvice` of what a test says, by unit and namespace."""

    known: dict[tuple[str, str], RecommendedUnit | str] = field(default_factory=dict)

    def of(self, unit: str, namespace: str) -> RecommendedUnit | str:
        return self.known.get((unit, namespace), f"nothing was reported of it in {namespace} yet")


@dataclass
class MemoryUnitJournal:
    """A `UnitJournal`."""

    added: list[Decision] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    taken_back: set[str] = field(default_factory=set)

    async def add(self, decision: Decision) -> None:
        self.added.append(decision)

    async def done(self, decision: Decision) -> None:
        self.finished.append(decision.id)

    async def is_taken_back(self, unit: str) -> bool:
        return unit in self.taken_back

    async def forget(self, unit: str) -> None:
        self.taken_back.discard(unit)
