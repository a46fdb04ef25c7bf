"""Which volumes wait until the credentials process has confirmed them, and when each is tried again.

One that fails, for example because its pod has filled it, is tried ever more seldom; the others are not held up.
"""

from dataclasses import dataclass, field

from nemutator_common.backoff import Backoff

AGAIN = Backoff(first_s=2.0, longest_s=60.0)


@dataclass(slots=True)
class _Waiting:
    failures: int = 0
    due: float = 0.0


@dataclass(eq=False, slots=True)
class WaitingVolumes:
    _waiting: dict[str, _Waiting] = field(default_factory=dict, init=False)

    def add(self, volume_id: str) -> None:
        """Something has changed about it, so that it may succeed now."""
        self._waiting.setdefault(volume_id, _Waiting()).due = 0.0

    def confirm(self, volume_id: str) -> None:
        self._waiting.pop(volume_id, None)

    def fail(self, volume_id: str, now: float, *, roll: float) -> None:
        waiting = self._waiting.setdefault(volume_id, _Waiting())
        waiting.failures += 1
        waiting.due = now + AGAIN.delay_s(waiting.failures, roll=roll)

    def due(self, now: float) -> list[str]:
        """Those that have failed least come first."""
        due = [(one.failures, name) for name, one in self._waiting.items() if one.due <= now]
        return [name for _, name in sorted(due)]

    def failing(self) -> list[str]:
        return sorted(name for name, one in self._waiting.items() if one.failures)

    def __contains__(self, volume_id: str) -> bool:
        return volume_id in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)
