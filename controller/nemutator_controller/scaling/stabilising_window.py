"""The highest minimum that was wanted lately: it rises at once, and falls only when less was enough for a while: pure."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class StabilisingWindow:
    window_s: float
    _wanted: deque[tuple[float, int]] = field(default_factory=deque, init=False)
    """Falling, so that it is as long as there are different values at most."""

    def see(self, wanted: int, *, now: float) -> int:
        """Take *wanted* at *now*; the result is the highest within the window."""
        while self._wanted and self._wanted[-1][1] <= wanted:
            self._wanted.pop()
        self._wanted.append((now, wanted))
        while self._wanted[0][0] <= now - self.window_s and len(self._wanted) > 1:
            self._wanted.popleft()
        return self._wanted[0][1]
