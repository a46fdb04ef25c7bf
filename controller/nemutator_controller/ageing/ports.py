"""What ageing needs from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nemutator_common.windows import SymbolFrame, WindowPause

from nemutator_controller.ageing.model import (
    AgedWorkload,
    AgeingFinding,
    ChangedWorkload,
    KeptWindow,
    WindowSource,
)


class WorkloadOwners(Protocol):
    def of(self, source: WindowSource) -> AgedWorkload | None:
        """Whose process it is; None when that is not known (yet)."""
        ...


class WindowStore(Protocol):
    """Every call may raise StoreUnavailableError."""

    async def unowned(self, most: int) -> Sequence[WindowSource]:
        """Processes whose workload is not known yet, those that were read last first."""
        ...

    async def own(self, sources: Mapping[str, AgedWorkload]) -> None:
        """The workloads of sources, by their ids."""
        ...

    async def changed_since(self, moment: float) -> Sequence[ChangedWorkload]:
        """Workloads of which a reading is newer than that."""
        ...

    async def history(self, workload: AgedWorkload) -> Mapping[WindowSource, Sequence[KeptWindow]]:
        """The windows of the processes that run its newest image, oldest first."""
        ...

    async def frames(self, ids: Collection[str]) -> Mapping[str, tuple[SymbolFrame, ...]]:
        """What those of *ids* stand for that are known."""
        ...

    async def findings(self) -> Sequence[AgeingFinding]: ...

    async def save(self, finding: AgeingFinding) -> None:
        """Save *finding* in the place of what was there of its workload."""
        ...

    async def prune(self) -> Mapping[str, int]:
        """Remove windows that are too old or too many; their numbers by reason."""
        ...

    def pauses(self) -> Sequence[WindowPause]:
        """Of nodes whose windows have stopped now."""
        ...

    async def known(self) -> frozenset[str]:
        """The ids of all workloads of which windows are kept."""
        ...


class MarkablePods(Protocol):
    def standing(self, uids: Collection[str]) -> Mapping[str, str | None]:
        """What stands, by the uid of the pod, on those of *uids* that are there, and on all that bear a mark;
        nothing while pods are not known."""
        ...

    async def mark(self, uid: str, note: str | None) -> None:
        """Let *note* stand on a pod, None: nothing; one that is gone needs none. Raises NotMarkedError."""
        ...


class AgeingNews(Protocol):
    def notify(self, finding: AgeingFinding, note: str) -> None:
        """Tell of it where its owner looks; it never waits."""
        ...
