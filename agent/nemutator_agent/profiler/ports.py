"""What a profile session needs of others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from nemutator_common.wire import ProfileOutcome, ProfileRequest, ProfileTarget

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.targets import GroupDirectory, ResolvedTarget, TargetSelection


class Symboliser(Protocol):
    """Gives names to addresses. The processes may have ended meanwhile: it says so in the notes."""

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        """The profile as compressed pprof, and what people should know of it: also which names could
        not be found in the time that it sets itself."""
        ...


class GoTexts(Protocol):
    async def range_of(self, pid: int) -> tuple[int, int] | None:
        """First address and the one after the last of the Go code of a process, as it is mapped;
        None when it has none that can be read."""
        ...


class ProfileLink(Protocol):
    """Where requests come from and outcomes go to. Both raise LinkError."""

    async def requests(self, wait_s: float) -> Sequence[ProfileRequest]:
        """The requests that wait for this node; none after *wait_s* without one."""
        ...

    async def report(self, outcome: ProfileOutcome) -> None: ...


class Sampling(Protocol):
    """Begun, and not ended yet."""

    async def stop(self) -> Samples:
        """What was found. To be called once; nothing is sampled when it returns."""
        ...

    async def discard(self) -> None:
        """End it without an answer; does nothing after `stop`."""
        ...


class Sampler(Protocol):
    """One `Sampling` at a time."""

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> Sampling:
        """Begin, with the *texts* of processes whose leaves are to be repaired; ProfileRefused."""
        ...


class Targets(Protocol):
    async def resolve(self, target: ProfileTarget) -> ResolvedTarget:
        """Find *target* on this machine now; ProfileRefused."""
        ...


class Groups(Protocol):
    """Control groups as the rest of the agent names them. Blocks for as long as /proc takes."""

    def directories(self, path: str) -> Sequence[GroupDirectory]:
        """Where the group is mounted; none when there is no such group."""
        ...

    def of_pod(self, uid: str) -> Iterable[str]:
        """Paths of all groups with processes that bear a pod's uid, at the level of the pod."""
        ...
