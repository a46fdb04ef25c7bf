"""The clock of this machine."""

import asyncio
import time


class SystemClock:
    # Python's own functions: each record, line and deadline asks for the time.
    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
