"""What sizing needs from others, in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_controller.sizing.keys import Key, Requested
from nemutator_controller.sizing.packing import Kept

from tests.fakes.brain_stores import Failing


@dataclass
class FixedRequests:
    known: Mapping[Key, Requested]

    async def now(self) -> Mapping[Key, Requested]:
        return self.known


class MemoryUsages(Failing):
    def __init__(self) -> None:
        self.kept: dict[Key, Kept] = {}
        self.steps: list[set[Key]] = []

    async def load(self) -> Mapping[Key, Kept]:
        self._work()
        return dict(self.kept)

    async def save(self, kept: Mapping[Key, Kept], gone: Iterable[Key]) -> None:
        self._work()
        self.steps.append(set(kept))
        self.kept |= kept
        for key in gone:
            self.kept.pop(key, None)
