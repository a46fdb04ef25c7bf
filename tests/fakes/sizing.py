"""What sizing needs from others, in memory."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.packed_rows import SavedUsage

from tests.fakes.brain_stores import Failing


@dataclass
class GrowingContainers:
    """`GrowingMemory` of what a test says."""

    keys: Collection[ContainerKey] = ()

    def of(self, key: ContainerKey) -> str | None:
        return "this memory grows: see ageing" if key in self.keys else None


NOTHING_GROWS = GrowingContainers()


@dataclass
class FixedRequests:
    known: Mapping[ContainerKey, Requested]

    async def now(self) -> Mapping[ContainerKey, Requested]:
        return self.known


class MemoryUsages(Failing):
    def __init__(self) -> None:
        self.kept: dict[ContainerKey, SavedUsage] = {}
        self.steps: list[set[ContainerKey]] = []

    async def load(self) -> Mapping[ContainerKey, SavedUsage]:
        self._work()
        return dict(self.kept)

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        self._work()
        self.steps.append(set(kept))
        self.kept |= kept
        for key in gone:
            self.kept.pop(key, None)
