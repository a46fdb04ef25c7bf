"""Everything a profile session needs, without a kernel."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.raw import RawProfile, RawRow, SeenProgram, Thread
from nemutator_agent.profiler.refusals import ProfileRefused, gone
from nemutator_agent.profiler.targets import ResolvedTarget, TargetSelection
from nemutator_common.profiles.model import SampleLabels
from nemutator_common.shipping.links import LinkError
from nemutator_common.wire import ProfileOutcome, ProfileRequest, ProfileTarget


class MemorySampling:
    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self.ended = False
        self.seen: list[SeenProgram] = []
        self.texts: dict[int, tuple[int, int]] = {}

    async def drain(self) -> Sequence[SeenProgram]:
        if self.ended:
            raise RuntimeError("stopped already")
        seen, self.seen = self.seen, []
        return seen

    async def add_text(self, tgid: int, text: tuple[int, int]) -> None:
        self.texts[tgid] = text

    async def stop(self) -> Samples:
        if self.ended:
            raise RuntimeError("stopped already")
        self.ended = True
        return self._samples

    async def discard(self) -> None:
        self.ended = True


class MemorySampler:
    """Finds for each process or group what it was told that it does."""

    def __init__(self, rows: Mapping[int, Sequence[RawRow]] | None = None) -> None:
        self._rows = dict(rows or {})
        self.lost: dict[str, int] = {}
        self.truncated = 0
        self.untimed = 0
        self.refusal: ProfileRefused | Exception | None = None
        self.started: list[tuple[TargetSelection, int, Mapping[int, tuple[int, int]]]] = []
        self.samplings: list[MemorySampling] = []

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> MemorySampling:
        if self.refusal is not None:
            raise self.refusal
        assert all(sampling.ended for sampling in self.samplings), "one at a time"
        self.started.append((selection, hz, dict(texts)))
        rows = tuple(self._rows.get(selection.id, ()))
        recorded = sum(row.count for row in rows)
        samples = Samples(rows, recorded, dict(self.lost), self.truncated, self.untimed)
        sampling = MemorySampling(samples)
        sampling.texts.update(texts)
        sampling.seen = [SeenProgram(task, 1, 1, 0) for task in {row.task for row in rows}]
        self.samplings.append(sampling)
        return sampling


@dataclass
class MemoryAccount:
    """Answers one number after the other, the last one again and again."""

    answers: list[float | None]

    def cpu_seconds(self) -> float | None:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass
class MemoryTargets:
    known: dict[ProfileTarget, ResolvedTarget] = field(default_factory=dict)

    async def resolve(self, target: ProfileTarget) -> ResolvedTarget:
        if target not in self.known:
            raise gone(f"{target.kind} {target.value}")
        return self.known[target]

    async def labels_of(self, processes: Sequence[int]) -> Mapping[int, SampleLabels]:
        return {pid: (("pid", str(pid)),) for pid in processes}

    async def thread_names(self, threads: Collection[Thread]) -> Mapping[Thread, str]:
        return {(pid, thread): f"worker {thread}" for pid, thread in threads}


class MemoryCode:
    def __init__(self, code: Mapping[int, tuple[int, int]] | None = None) -> None:
        self._code = dict(code or {})
        self.stuck: set[int] = set()

    async def code_of(self, pid: int) -> tuple[int, int] | None:
        if pid in self.stuck:
            await asyncio.Event().wait()
        return self._code.get(pid)


class HexSymboliser:
    """Names an address by its number."""

    def __init__(self) -> None:
        self.seen: list[RawProfile] = []
        self.answer: bytes | None = None
        self.notes: tuple[str, ...] = ("names are numbers",)
        self.failure: Exception | None = None
        self.kept: list[SeenProgram] = []
        self.texts: dict[int, tuple[int, int]] = {}

    async def keep(self, program: SeenProgram) -> tuple[int, int] | None:
        self.kept.append(program)
        return self.texts.get(program.task[0])

    def forget(self) -> None:
        self.kept.clear()

    async def symbolise(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        self.seen.append(raw)
        if self.failure is not None:
            raise self.failure
        lines = (f"{';'.join(map(hex, row.user[::-1]))} {row.count}\n" for row in raw.rows)
        return self.answer or "".join(lines).encode(), self.notes


class MemoryLink:
    """The brain's end: `ask_for` profiles, `told` is what it heard."""

    def __init__(self) -> None:
        self._requests: list[ProfileRequest] = []
        self._changed = asyncio.Condition()
        self.told: list[ProfileOutcome] = []
        self.failures: list[LinkError] = []
        self.repeats = False
        self.calls = 0

    async def ask_for(self, *requests: ProfileRequest) -> None:
        async with self._changed:
            self._requests += requests
            self._changed.notify_all()

    async def requests(self, wait_s: float) -> Sequence[ProfileRequest]:
        self.calls += 1
        self._fail()
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._requests))
            waiting = list(self._requests)
            if not self.repeats:
                self._requests.clear()
            return waiting

    async def report(self, outcome: ProfileOutcome) -> None:
        self._fail()
        async with self._changed:
            self.told.append(outcome)
            self._changed.notify_all()

    async def heard(self, count: int) -> Sequence[ProfileOutcome]:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self.told) >= count)
        return self.told

    async def ended(self, name: str) -> ProfileOutcome:
        """How a profile went."""

        def ends() -> list[ProfileOutcome]:
            return [one for one in self.told if one.id == name and one.state != "running"]

        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(ends)
        (end,) = ends()
        return end

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)
