"""What a profile session needs of others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_common.wire import ProfileOutcome, ProfileRequest

from nemutator_agent.profiler.raw import RawProfile


class Symboliser(Protocol):
    """Gives names to addresses. The processes may have ended meanwhile: it says so in the notes."""

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        """The profile as compressed pprof, and what people should know of it."""
        ...


class GoTexts(Protocol):
    async def range_of(self, pid: int) -> tuple[int, int] | None:
        """First address and the one after the last of the Go code of a process, as it is mapped;
        None when it has none that can be read."""
        ...


class ProfileLink(Protocol):
    """Where requests come from and outcomes go to. Both raise ConnectionError when it is away."""

    async def requests(self, wait_s: float) -> Sequence[ProfileRequest]:
        """The requests that wait for this node; none after *wait_s* without one."""
        ...

    async def report(self, outcome: ProfileOutcome) -> None: ...
