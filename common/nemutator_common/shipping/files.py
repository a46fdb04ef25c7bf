"""A small file that somebody else replaces while we run: a projected token, a CA bundle."""

from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.shipping.links import LinkUnavailableError

READ_AGAIN_S = 60.0
"""kubelet replaces a token when 80 % of its life are over."""

LARGEST = 1 << 20


class RereadFile:
    """Its text, read again each minute, and at once when it was of no use."""

    def __init__(self, path: Path, *, clock: Clock, reason: str) -> None:
        """*reason* is the word under which it is counted when there is no such file."""
        self._path = path
        self._clock = clock
        self._reason = reason
        self._text: str | None = None
        self._read_at = 0.0

    def text(self) -> str:
        # A few kilobytes in memory (tmpfs): reading them blocks nobody.
        now = self._clock.monotonic()
        if self._text is None or now - self._read_at >= READ_AGAIN_S:
            try:
                with self._path.open("rb") as file:
                    self._text = file.read(LARGEST).decode().strip()
            except (OSError, UnicodeDecodeError) as error:
                # Kubelet is swapping the files: what we know may still be good.
                if self._text is None:
                    why = getattr(error, "strerror", None) or "not text"
                    raise LinkUnavailableError(self._reason, f"{self._path}: {why}") from error
            self._read_at = now
        return self._text

    def doubt(self) -> None:
        """It was refused: read it before it is used again."""
        self._read_at -= READ_AGAIN_S
