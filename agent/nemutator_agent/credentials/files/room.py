"""How much memory the files of all pods of a node may take."""

from dataclasses import dataclass, field

MOST = 32 << 20
"""Of 110 pods each may have more than it usually has; without this 512 pods could take 128 MiB."""


@dataclass(eq=False, slots=True)
class FileRoom:
    """Counts the newest files of each volume. The ones before are removed at once."""

    most: int = MOST
    used: int = field(default=0, init=False)
    _taken: dict[object, int] = field(default_factory=dict, init=False)

    def take(self, volume: object, size: int, *, there: bool = False) -> bool:
        """Whether the files of *volume* may have *size* bytes. Those that are *there* already always may."""
        used = self.used - self._taken.get(volume, 0) + size
        if used > max(self.most, self.used) and not there:
            return False
        self._taken[volume], self.used = size, used
        return True

    def leave(self, volume: object) -> None:
        self.used -= self._taken.pop(volume, 0)
