"""A small file that somebody else replaces while we run: a projected token, a CA bundle."""

from dataclasses import dataclass, field
from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.shipping.links import LinkUnavailableError

READ_AGAIN_S = 60.0
"""This is often enough: kubelet replaces a token when 80 % of its lifetime is over."""

LARGEST = 1 << 20


@dataclass(eq=False)
class RereadFile:
    """The text of a file, read again each minute, and at once when it was refused."""

    path: Path
    clock: Clock
    reason: str = field(kw_only=True)
    """The reason of the error when there is no such file."""
    _text: str | None = field(init=False, default=None, repr=False)
    _read_at: float = field(init=False, default=0.0)

    def text(self) -> str:
        # Such a file is a few kilobytes in memory (tmpfs), so reading it does not block the loop.
        now = self.clock.monotonic()
        if self._text is None or now - self._read_at >= READ_AGAIN_S:
            try:
                with self.path.open("rb") as file:
                    self._text = file.read(LARGEST).decode().strip()
            except (OSError, UnicodeDecodeError) as error:
                # kubelet may be replacing the files just now, and what we read last may be valid.
                if self._text is None:
                    why = getattr(error, "strerror", None) or "not text"
                    raise LinkUnavailableError(self.reason, f"{self.path}: {why}") from error
            self._read_at = now
        return self._text

    def invalidate(self) -> None:
        """The text was refused: the file is read again before its next use."""
        self._read_at -= READ_AGAIN_S
