"""Which replicas of admission know the tombstones.

An evicted pod is replaced at once. A replica that does not know yet what was taken back would make the
same edits in the new pod.
"""

from dataclasses import dataclass, field

from nemutator_common.process import Process

LISTENS_S = 30.0
"""How long after its last request a replica is waited for: twice its longest pause between two tries."""

PATIENCE_S = 8.0
"""The wait for all replicas. They ask every two seconds, and the command that waits gives up after ten."""

CHECK_S = 0.2

MOST = 100
"""Replicas that are remembered. The token of a replica proves its own name only."""

MOST_PROCESSES = 16
"""Of one replica: those that share its port."""


@dataclass(slots=True)
class AdmissionReplicas:
    """Knows replicas by their requests. A brain that has just started knows none yet, and waits for the first as
    long as that may pause between two tries."""

    process: Process
    expected: bool
    """Whether there is an admission, as in a cluster."""
    _began_at: float = field(init=False)
    _asked: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict, init=False)
    """The last request but one, and the last. A replica that asks again has applied the answer before."""

    def __post_init__(self) -> None:
        self._began_at = self.process.clock.monotonic()

    def asked(self, replica: str, process: str = "") -> None:
        """By *process* of it, where it has several."""
        now, key = self.process.clock.monotonic(), (replica, process)
        self._forget(now)
        if key in self._asked or self._has_room_for(replica):
            _, last = self._asked.get(key, (float("-inf"), float("-inf")))
            self._asked[key] = last, now

    async def knows(self) -> bool:
        """Wait until each replica knows what is taken back by now; False when one still does not."""
        buried_at = self.process.clock.monotonic()
        while not self._knows(buried_at):
            if self.process.clock.monotonic() - buried_at >= PATIENCE_S:
                return False
            await self.process.clock.sleep(CHECK_S)
        return True

    def is_heard(self) -> bool:
        """Whether at least one of them has asked lately."""
        self._forget(self.process.clock.monotonic())
        return bool(self._asked)

    def _knows(self, buried_at: float) -> bool:
        now = self.process.clock.monotonic()
        self._forget(now)
        if self.expected and not self._asked and now - self._began_at < LISTENS_S:
            return False
        return all(before > buried_at for before, _ in self._asked.values())

    def _has_room_for(self, replica: str) -> bool:
        own = sum(name == replica for name, _ in self._asked)
        return own < MOST_PROCESSES and len(self._asked) < MOST

    def _forget(self, now: float) -> None:
        for key, (_, last) in list(self._asked.items()):
            if now - last > LISTENS_S:
                del self._asked[key]
