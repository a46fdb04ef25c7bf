"""One sampling of the kernel at a time: what somebody has asked for comes first.

A sampling that nobody asked for is to end as soon as one is asked for, so that no person waits for it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.ports import Sampler, Sampling
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.targets import TargetSelection

Texts = Mapping[int, tuple[int, int]]


@dataclass(eq=False, slots=True)
class SamplingTurns:
    """A `Sampler` for what is asked for, and `start_unasked` for the rest."""

    sampler: Sampler
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _asked: int = field(default=0, init=False)
    _wanted: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    @property
    def is_wanted(self) -> bool:
        """Whether a sampling that was asked for goes on, or waits for its turn."""
        return self._wanted.is_set()

    async def until_wanted(self) -> None:
        await self._wanted.wait()

    async def start(self, selection: TargetSelection, *, hz: int, texts: Texts) -> Sampling:
        self._asked += 1
        self._wanted.set()
        try:
            return await self._started(selection, hz, texts, self._answered)
        except BaseException:
            self._answered()
            raise

    async def start_unasked(
        self, selection: TargetSelection, *, hz: int, texts: Texts
    ) -> Sampling | None:
        """None while another one goes on, or waits. Raises ProfileRefused."""
        if self.is_wanted or self._turn.locked():
            return None
        return await self._started(selection, hz, texts, lambda: None)

    async def _started(
        self, selection: TargetSelection, hz: int, texts: Texts, ended: Callable[[], None]
    ) -> Sampling:
        await self._turn.acquire()
        try:
            sampling = await self.sampler.start(selection, hz=hz, texts=texts)
        except BaseException:
            self._turn.release()
            raise
        return _Turn(sampling, self._turn, ended)

    def _answered(self) -> None:
        self._asked -= 1
        if not self._asked:
            self._wanted.clear()


@dataclass(eq=False, slots=True)
class _Turn:
    sampling: Sampling
    turn: asyncio.Lock
    ended: Callable[[], None]
    _is_over: bool = field(default=False, init=False)

    async def drain(self) -> Sequence[SeenProgram]:
        return await self.sampling.drain()

    async def add_text(self, tgid: int, text: tuple[int, int]) -> None:
        await self.sampling.add_text(tgid, text)

    async def stop(self) -> Samples:
        samples = await self.sampling.stop()
        self._end()
        return samples

    async def discard(self) -> None:
        try:
            await self.sampling.discard()
        finally:
            self._end()

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self.turn.release()
            self.ended()
