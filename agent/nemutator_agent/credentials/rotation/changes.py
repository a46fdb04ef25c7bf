"""The changes of secrets that one socket's callers may hear of: the newest of each name."""

from dataclasses import dataclass, field

MOST = 512
"""Names that are remembered: twice as many as a machine keeps, and more than a pod declares."""


@dataclass(frozen=True, slots=True)
class SecretChange:
    name: str
    version: int | None
    """None in engines that keep a single version."""
    sequence: int
    """Grows with each change, also from one run of the process to the next."""


@dataclass(eq=False, slots=True)
class ChangeLog:
    """Of each name only the newest change is kept: who comes late misses versions in between, and
    never the newest one."""

    newest: int
    """The sequence of the newest change; at first where this log begins."""
    _begins: int = field(init=False)
    _changes: dict[str, SecretChange] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._begins = self.newest

    def add(self, name: str, version: int | None) -> SecretChange:
        self.newest += 1
        change = SecretChange(name, version, self.newest)
        self._changes.pop(name, None)
        self._changes[name] = change
        if len(self._changes) > MOST:
            oldest = next(iter(self._changes))
            self._begins = self._changes.pop(oldest).sequence
        return change

    def reaches(self, sequence: int) -> bool:
        """Whether `after(sequence)` is all that has happened since then."""
        return self._begins <= sequence <= self.newest

    def after(self, sequence: int) -> tuple[SecretChange, ...]:
        """The oldest first."""
        return tuple(change for change in self._changes.values() if change.sequence > sequence)
