"""What a profile session needs of others."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from nemutator_common.profiles.model import SampleLabels
from nemutator_common.wire import ProfileOutcome, ProfileRequest, ProfileTarget

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.heap.sites import HeapReading
from nemutator_agent.profiler.raw import RawProfile, SeenProgram, Thread
from nemutator_agent.profiler.targets import (
    GroupDirectory,
    ProcessPlace,
    ResolvedTarget,
    TargetSelection,
)


class Symboliser(Protocol):
    """Gives names to addresses. Notes say which processes ended too early for that."""

    async def keep(self, program: SeenProgram) -> tuple[int, int] | None:
        """Remember the program for a profile that is being made, should it end before that: with the
        first address of its Go code, as it is mapped, and the one after its last; None where there is
        no Go code that can be read."""
        ...

    def forget(self) -> None:
        """Forget what was kept."""
        ...

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        """The profile as compressed pprof, and what people should know of it: also which names could
        not be found in the time that it sets itself."""
        ...


class HeapProfiles(Protocol):
    async def read(self, processes: Sequence[int]) -> HeapReading:
        """What the runtimes of those of the processes that are Go have recorded. Raises
        ProfileRefused when there is none."""
        ...


class ExecutableCode(Protocol):
    async def code_of(self, pid: int) -> tuple[int, int] | None:
        """The first address of the code of a process's executable, whatever made it, and the one after
        its last: from the kernel alone, at once. None where the process cannot be looked at."""
        ...


class ProfileLink(Protocol):
    """The source of requests and the destination of outcomes. Both raise LinkError."""

    async def requests(self, wait_s: float) -> Sequence[ProfileRequest]:
        """The requests that wait for this node; none when *wait_s* has passed without one."""
        ...

    async def report(self, outcome: ProfileOutcome) -> None: ...


class Sampling(Protocol):
    """A sampling that goes on."""

    async def drain(self) -> Sequence[SeenProgram]:
        """Make room for more samples where it gets scarce, and return the programs that were seen: those
        of the samples since the last call, at least. To be called several times a second."""
        ...

    async def add_text(self, tgid: int, text: tuple[int, int]) -> None:
        """The Go text of a process, in place of what was known of it."""
        ...

    async def stop(self) -> Samples:
        """End it, and return the samples since its start. To be called once."""
        ...

    async def discard(self) -> None:
        """End it without samples; does nothing after `stop`."""
        ...


class Sampler(Protocol):
    """One `Sampling` at a time."""

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> Sampling:
        """Begin, with the *texts* of processes where Go code is, or may be: they lead to lost callers.
        Raises ProfileRefused."""
        ...


class Targets(Protocol):
    async def resolve(self, target: ProfileTarget) -> ResolvedTarget:
        """Find *target* on this machine as it is now. Raises ProfileRefused."""
        ...

    async def labels_of(self, processes: Sequence[int]) -> Mapping[int, SampleLabels]:
        """What samples of *processes* are labelled with: of those that have ended, only their numbers."""
        ...

    async def thread_names(self, threads: Collection[Thread]) -> Mapping[Thread, str]:
        """What those of the *threads* are called that still run."""
        ...


class Groups(Protocol):
    """Control groups as the rest of the agent names them. It blocks while it reads /proc."""

    def directories(self, path: str) -> Sequence[GroupDirectory]:
        """The directories of the group; none when there is no such group."""
        ...

    def place_of(self, pid: int) -> ProcessPlace:
        """Where a process is now; nowhere when it has ended."""
        ...

    def of_pod(self, uid: str) -> Iterable[str]:
        """The paths of all groups with processes that have a pod's uid, at the level of the pod."""
        ...
