"""A brain without a network: it stores what it is sent, or fails as a test tells it to."""

import asyncio
from collections import deque

import msgspec
from nemutator_common.wire import Ack, Batch


class BrainLink:
    """Keeps what a real brain would: of each epoch the numbers stored, each once and in order."""

    def __init__(self) -> None:
        self.stored: dict[str, list[int]] = {}
        self.batches: list[Batch] = []
        self.failures: deque[Exception | Ack] = deque()
        """Each is used up by one call: an error is raised, an Ack is answered untruthfully."""
        self.loses_answers = False
        """Stores, and fails all the same."""
        self.silent = False
        self.report_every_s = 0.0
        """What it asks for."""
        self._changed = asyncio.Condition()

    async def position(self, *, writer: str, epoch: str) -> Ack:
        if answer := await self._failed():
            return answer
        return self._ack(epoch)

    async def send(self, batch: bytes) -> Ack:
        if answer := await self._failed():
            return answer
        known = msgspec.json.decode(batch, type=Batch)
        stored = self.stored.setdefault(known.epoch, [])
        last = stored[-1] if stored else 0
        stored += [envelope.seq for envelope in known.envelopes if envelope.seq > last]
        self.batches.append(known)
        async with self._changed:
            self._changed.notify_all()
        if self.loses_answers:
            self.loses_answers = False
            raise TimeoutError
        return self._ack(known.epoch)

    async def until_stored(self, *numbers: int, patience_s: float = 60.0) -> None:
        """Wait until exactly these are stored, of the only epoch."""
        async with asyncio.timeout(patience_s), self._changed:
            await self._changed.wait_for(lambda: list(self.stored.values()) == [list(numbers)])

    def _ack(self, epoch: str) -> Ack:
        stored = self.stored.get(epoch)
        return Ack(epoch, stored[-1] if stored else 0, self.report_every_s)

    async def _failed(self) -> Ack | None:
        if self.silent:
            await asyncio.Event().wait()
        if not self.failures:
            return None
        failure = self.failures.popleft()
        if isinstance(failure, Exception):
            raise failure
        return failure
