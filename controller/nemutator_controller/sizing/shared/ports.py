"""What brains that share their advice need from where they share it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from nemutator_common.wire_activity import Flow

from nemutator_controller.database.claim import Claim
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.shared.kept_points import WaitingPoints


class FlowWatcher(Protocol):
    def take(self, node: str, flows: Iterable[Flow], *, now: float) -> None: ...


class Beside(Protocol):
    """What is learned from the same points, and has rows of its own."""

    async def restore_anew(self, claim: Claim | None) -> None:
        """Know what is saved, and nothing else. Only with a *claim* anything is written; raises `ClaimLostError`."""
        ...

    async def settle_once(self) -> None: ...

    async def save(self, claim: Claim) -> None:
        """Raises `ClaimLostError` when another brain has it now: nothing is written then."""
        ...


class SharedUsages(Protocol):
    """Its calls raise `StoreUnavailableError`."""

    async def take(self) -> Claim | None:
        """The right to learn; None while another brain has it."""
        ...

    async def renew(self, claim: Claim) -> bool:
        """False when another brain has it, and when the store no longer knows of the last renewal: then it was set back in
        time, and gives the numbers of points that this brain has learned to others."""
        ...

    async def release(self, claim: Claim) -> None: ...

    async def waiting(self) -> Sequence[int]:
        """The numbers of all points that wait.

        A smaller one may come later than a larger one: its transaction took longer.
        """
        ...

    async def points(self, numbers: Sequence[int]) -> Sequence[WaitingPoints]: ...

    async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
        """The saved rows that were reported since then."""
        ...

    async def save(
        self,
        claim: Claim,
        kept: Mapping[ContainerKey, SavedUsage],
        gone: Collection[ContainerKey],
        learned: Collection[int],
    ) -> bool:
        """Save rows and remove the points that are *learned* in them, all or nothing.

        False, and nothing was saved: the claim is another brain's now.
        """
        ...
