"""Time as an argument: engines get a `Clock`, so that tests need no waiting.

The real one is in `system_clock.py`; `tests/fakes/clocks.py` has one that a test advances.
"""

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Wall time in seconds since the epoch, for people and records; it may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for intervals and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None: ...
