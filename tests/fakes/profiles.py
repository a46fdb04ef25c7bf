"""What profiles need of others, in memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from nemutator_common.profiles import pprof
from nemutator_common.profiles.grade import Grade
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Weighed
from nemutator_common.profiles.model import Profile as NamedProfile
from nemutator_common.wire import ProfileTarget
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.records import (
    AnnotatedPod,
    KnownPod,
    PodRef,
    ProfileRecord,
    ResultUnwrittenError,
)

from tests.fakes.brain_stores import Failing

NOW = 1_700_000_000.0
POD = PodRef("shop", "cart-1", "11111111-2222-3333-4444-555555555555")


def profile(number: int = 1, *, node: str = "n1", at: float = NOW) -> ProfileRecord:
    return ProfileRecord(
        id=f"{number:016x}",
        node=node,
        target=ProfileTarget("pid", "123"),
        seconds=30.0,
        hz=99,
        asked_at=at,
    )


def content(*functions: str) -> bytes:
    """A profile with a sample in each of *functions*, as an agent sends it."""
    named = functions or ("main.work",)
    return pprof.encode(
        NamedProfile(
            hz=99,
            started_at=NOW,
            seconds=1.0,
            frames=tuple(Frame(function, "main.go", 7, 1, "go") for function in named),
            stacks=tuple(((number,), 1) for number in range(len(named))),
            recorded=len(named),
            grade=Grade(rooted=len(named), calls={"direct": 3, "wrong": 1}),
        )
    )


def heap_content(*functions: str) -> bytes:
    """A heap in which each of *functions* has 3 MiB in use of the 4 MiB that it has allocated."""
    named = functions or ("main.keep",)
    allocated = Allocated(4, 4 << 20, 3, 3 << 20)
    return pprof.encode_heap(
        HeapProfile(
            started_at=NOW,
            rate=524_288,
            frames=tuple(Frame(function, "srv/main.go", 7, 1, "go") for function in named),
            sites=tuple(((number,), allocated) for number in range(len(named))),
            notes=("shop (pid 123): as of garbage collection 9",),
        )
    )


def off_cpu_content(function: str = "main.wait", *, seconds: float = 2.0) -> bytes:
    """Time off the CPU: *function* was blocked for so long."""
    waits = Weighed(
        frames=(Frame(function, "srv/main.go", 7, 1, "go"),),
        stacks=(((0,), round(seconds * 1e9)),),
        unit="nanoseconds",
        started_at=NOW,
    )
    return pprof.encode_nanoseconds(waits, seconds=30.0, kind=pprof.OFF_CPU)


class MemoryProfiles(Failing):
    def __init__(self) -> None:
        self.kept: dict[str, ProfileRecord] = {}
        self.contents: dict[str, bytes] = {}
        self.late = False
        """Whether what is saved is there only after the caller has given up."""

    async def save(self, profile: ProfileRecord, pprof: bytes | None = None) -> None:
        self._work()
        self.kept[profile.id] = profile
        if pprof is not None:
            self.contents[profile.id] = pprof
        if self.late:
            raise StoreUnavailableError("deadline")

    async def find(self, identity: str) -> ProfileRecord | None:
        self._work()
        return self.kept.get(identity)

    async def unfinished(self) -> Sequence[ProfileRecord]:
        self._work()
        return sorted(
            (one for one in self.kept.values() if one.is_open), key=lambda one: one.asked_at
        )

    async def newest(self, most: int) -> Sequence[ProfileRecord]:
        self._work()
        return sorted(self.kept.values(), key=lambda one: (-one.asked_at, one.id))[:most]

    async def pprof(self, identity: str) -> bytes | None:
        self._work()
        return self.contents.get(identity)

    async def prune(self, *, most: int, most_bytes: int) -> tuple[int, int]:
        self._work()
        finished = sorted(
            (one for one in self.kept.values() if not one.is_open), key=lambda one: one.asked_at
        )
        by_count = by_bytes = 0
        while len(finished) > most:
            self._remove(finished.pop(0))
            by_count += 1
        while sum(one.bytes for one in finished) > most_bytes:
            self._remove(finished.pop(0))
            by_bytes += 1
        return by_count, by_bytes

    def _remove(self, profile: ProfileRecord) -> None:
        del self.kept[profile.id]
        self.contents.pop(profile.id, None)


class FixedPods:
    def __init__(self, *pods: KnownPod) -> None:
        self._pods = pods

    def find(self, name: str) -> KnownPod | None:
        for pod in self._pods:
            if name in (pod.ref.uid, f"{pod.ref.namespace}/{pod.ref.name}"):
                return pod
        return None


class ScriptedPods:
    """An `AnnotatedPods` and a `Results`: what is written comes back as a change, as in a cluster."""

    def __init__(self) -> None:
        self.written: list[tuple[PodRef, str]] = []
        self.told: list[str] = []
        self.broken = False
        self._queue: asyncio.Queue[AnnotatedPod] = asyncio.Queue()
        self._pods: dict[PodRef, AnnotatedPod] = {}

    def put(self, pod: AnnotatedPod) -> None:
        self._pods[pod.ref] = pod
        self._queue.put_nowait(pod)

    async def changes(self) -> AsyncIterator[AnnotatedPod]:
        while True:
            yield await self._queue.get()

    async def write(self, pod: PodRef, result: str) -> None:
        if self.broken:
            raise ResultUnwrittenError("the API server is away")
        self.written.append((pod, result))
        before = self._pods[pod]
        self.put(AnnotatedPod(pod, before.node, before.wanted, result))

    def notify(self, pod: PodRef, note: str) -> None:
        self.told.append(note)
