"""What sizing of units needs from others."""

from typing import Protocol

from nemutator_controller.mutations.decisions import Decision, Maybe
from nemutator_controller.units.unit_plans import RecommendedUnit
from nemutator_controller.units.unit_states import UnitState


class UnitAdvice(Protocol):
    def of(self, unit: str, namespace: str) -> RecommendedUnit | str:
        """What is recommended for *unit*, whose control group lies in *namespace*; or why nothing is."""
        ...


class UnitManager(Protocol):
    """The systemd of this machine. Raises `UnitsUnavailableError`."""

    async def state(self, unit: str) -> UnitState | None: ...

    async def reload(self) -> None:
        """Have it read its files again, after which units that run have what these say."""
        ...


class DropIns(Protocol):
    """The drop-in of ours that each unit can have. Raises `UnitRefusedError` and `UnitsUnavailableError`."""

    def place(self, unit: str) -> str:
        """Its file, for people."""
        ...

    async def read(self, unit: str) -> Maybe:
        """Its content; empty without one."""
        ...

    async def check(self, unit: str) -> None:
        """Raise what `replace` would raise, as far as it can be known before."""
        ...

    async def replace(self, unit: str, *, before: Maybe, after: Maybe) -> None:
        """Write *after* in the place of *before*, or remove the file where it is empty.

        Raises `DropInChangedError` when what is there is not *before*.
        """
        ...


class UnitJournal(Protocol):
    async def add(self, decision: Decision) -> None: ...

    async def done(self, decision: Decision) -> None:
        """Note that its values were written."""
        ...

    async def is_taken_back(self, unit: str) -> bool: ...

    async def forget(self, unit: str) -> None:
        """That it was taken back."""
        ...
