"""Notes what kubelet says was killed for memory.

The kernel's own counter is in the control group, which goes with its container: where the first process is killed, no
agent sees it count.
"""

from dataclasses import dataclass, field

from nemutator_common.process import Process

from nemutator_controller.sizing.killed_containers import KilledContainer, NotedKills
from nemutator_controller.sizing.ports import KilledContainers
from nemutator_controller.sizing.usages import Usages


@dataclass(slots=True)
class KillNoting:
    usages: Usages
    killed: KilledContainers
    process: Process
    _noted: NotedKills = field(default_factory=NotedKills, init=False)
    _began_at: float = field(default=0.0, init=False)

    async def run(self) -> None:
        self._began_at = self.process.clock.now()
        async for one in self.killed.changes():
            self.note(one)

    def note(self, one: KilledContainer) -> None:
        if self._noted.is_new(one):
            self.usages.note_kill(
                one.key,
                at=min(one.at, self.process.clock.now()),
                requested=one.requested,
                # What happened before this brain began may be saved: what it requests may be more by now.
                again=one.at < self._began_at,
            )
