import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest
from nemutator_agent.profiler.heap.sites import HeapReading
from nemutator_agent.profiler.making import NO_TEXT, Bounds, ProfileMaking
from nemutator_agent.profiler.raw import RawRow, SeenProgram
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.sessions import MOST_WAITING, ProfileSessions
from nemutator_agent.profiler.targets import ResolvedTarget, TargetSelection
from nemutator_common import names
from nemutator_common.shipping.links import BatchRefusedError, LinkUnavailableError
from nemutator_common.traces import NO_TRACER, Tracer
from nemutator_common.wire import (
    LARGEST_PROFILE_BYTES,
    ProfileOutcome,
    ProfileRequest,
    ProfileTarget,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.heaps import MemoryHeaps
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.samplers import (
    HexSymboliser,
    MemoryAccount,
    MemoryCode,
    MemoryLink,
    MemorySampler,
    MemoryTargets,
)

TARGET = ProfileTarget("pid", "7")
REQUEST = ProfileRequest(id="p1", target=TARGET, seconds=10, hz=50)
ROWS = (RawRow(7, (0x20, 0x10), (), (0, 0), 400), RawRow(7, (0x10,), (), (0, 0), 100))


@dataclass
class Agent:
    """A node whose process 7 is busy."""

    link: MemoryLink = field(default_factory=MemoryLink)
    sampler: MemorySampler = field(default_factory=lambda: MemorySampler({7: ROWS}))
    off_cpu: MemorySampler = field(default_factory=lambda: MemorySampler({7: ROWS[:1]}))
    code: MemoryCode = field(default_factory=lambda: MemoryCode({7: (0x10, 0x30)}))
    symboliser: HexSymboliser = field(default_factory=HexSymboliser)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    heaps: MemoryHeaps = field(
        default_factory=lambda: MemoryHeaps(HeapReading(b"heap", 5, ("as of\n9",), 4.0))
    )
    account: MemoryAccount = field(default_factory=lambda: MemoryAccount([100.0, 110.0]))
    tracer: Tracer = NO_TRACER

    def __post_init__(self) -> None:
        resolved = ResolvedTarget(TargetSelection("process", 7), (7, 8), self.account.cpu_seconds)
        self.targets = MemoryTargets({TARGET: resolved})
        process = fake_process(clock=self.clock, meter=self.meter, roll=0.0, tracer=self.tracer)
        making = ProfileMaking(
            self.targets,
            self.sampler,
            self.off_cpu,
            self.code,
            self.symboliser,
            self.heaps,
            process,
            node="n1",
            bounds=Bounds(seconds=60, hz=199, code_s=0.05),
        )
        self.sessions = ProfileSessions(self.link, making, process, node="n1")

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(body())
                for body in (self.sessions.poll, self.sessions.work, self.sessions.report)
            ]
            yield
            for task in tasks:
                task.cancel()

    async def outcome(self, request: ProfileRequest, *, after_s: float = 0) -> ProfileOutcome:
        """How it went, for a session that ends when so many seconds have passed."""
        async with self.running():
            await self.link.ask_for(request)
            if after_s:
                await self.link.heard(1)
                await self.clock.until_sleeping()
                await self.clock.advance(after_s)
            return await self.link.ended(request.id)


async def test_a_profile_is_announced_made_and_told() -> None:
    agent = Agent()
    done = await agent.outcome(REQUEST, after_s=10)
    assert agent.link.told[0].state == "running"
    assert done == ProfileOutcome(
        id="p1",
        node="n1",
        state="done",
        started_at=done.started_at,
        seconds=10,
        hz=50,
        recorded=500,
        lost={},
        cpu_seconds=10,
        notes=("names are numbers",),
        pprof=b"0x10;0x20 400\n0x10 100\n",
    )
    assert agent.sampler.started == [(TargetSelection("process", 7), 50, {7: (0x10, 0x30)})]
    (raw,) = agent.symboliser.seen
    assert raw.labels == {7: (("pid", "7"),)}
    assert agent.meter.value(names.PROFILE_SESSIONS, result="done") == 1
    assert agent.meter.value(names.PROFILE_SAMPLES, result="recorded") == 500


async def test_threads_are_told_apart_and_called_by_their_names_when_asked_for() -> None:
    agent = Agent()
    agent.sampler = MemorySampler({7: [replace(ROWS[0], thread=9), ROWS[1]]})
    agent.sessions.making.sampler = agent.sampler
    await agent.outcome(replace(REQUEST, threads=True), after_s=10)
    ((selection, _, _),) = agent.sampler.started
    assert selection == TargetSelection("process", 7, threads=True)
    (raw,) = agent.symboliser.seen
    assert raw.thread_names == {(7, 9): "worker 9"}


async def test_each_phase_is_told_while_it_is_made() -> None:
    agent = Agent()
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        await agent.clock.until_sleeping()
        await agent.link.heard(1)
        assert agent.link.told[-1].phase == "sampling"
        await agent.clock.advance(10)
        await agent.link.ended("p1")
    told = {one.phase: one.recorded for one in agent.link.told if one.state == "running"}
    # One that waits is replaced by the next: what is left is in their order.
    assert list(told) == [
        phase for phase in ("preparing", "sampling", "symbolising") if phase in told
    ]
    assert told["sampling"] == 0
    assert told.get("symbolising", 500) == 500


async def test_what_was_lost_is_told_and_counted() -> None:
    agent = Agent()
    agent.sampler.lost = {"stacks_full": 30}
    done = await agent.outcome(REQUEST, after_s=10)
    assert (done.recorded, done.lost) == (500, {"stacks_full": 30})
    assert agent.meter.value(names.PROFILE_SAMPLES, result="stacks_full") == 30


@pytest.mark.parametrize(
    ("request_", "said", "remedy"),
    [
        (replace(REQUEST, seconds=0), "no profile of 0 s", "at most 60 s"),
        (replace(REQUEST, seconds=61), "no profile of 61 s", "at most 60 s"),
        (replace(REQUEST, seconds=float("nan")), "no profile of nan s", "at most 60 s"),
        (replace(REQUEST, hz=0), "0 Hz", "1 to 199 Hz"),
        (replace(REQUEST, hz=200), "200 Hz", "1 to 199 Hz"),
        (
            replace(REQUEST, target=ProfileTarget("pod", "u-1")),
            "pod u-1 is not running",
            "live one",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_with_the_remedy(
    request_: ProfileRequest, said: str, remedy: str
) -> None:
    agent = Agent()
    refused = await agent.outcome(request_)
    assert refused.state == "refused"
    assert said in refused.reason
    assert remedy in refused.remedy
    assert agent.sampler.started == []


async def test_a_kernel_that_refuses_is_quoted() -> None:
    agent = Agent()
    agent.sampler.refusal = ProfileRefused("rights", "no right", remedy="be root")
    refused = await agent.outcome(REQUEST)
    assert (refused.state, refused.reason, refused.remedy) == ("refused", "no right", "be root")
    assert agent.meter.value(names.PROFILE_SESSIONS, result="rights") == 1


async def test_strangers_words_are_such_as_the_brain_takes() -> None:
    agent = Agent()
    evil = "lib\x1b[31m\u202e" + "x" * 2000
    agent.sampler.refusal = ProfileRefused("cgroup", evil, remedy=evil)
    refused = await agent.outcome(REQUEST)
    agent.sampler.refusal, agent.symboliser.notes = None, (evil,) * 100
    done = await agent.outcome(replace(REQUEST, id="p2"), after_s=10)
    for text in (refused.reason, refused.remedy, *done.notes):
        assert text.isprintable()
        assert len(text) <= 500
    assert done.notes[0].startswith("lib\\x1b[31m\\u202exx")
    assert done.notes[-1] == "and 69 more notes"


async def test_a_defect_ends_one_profile_and_not_the_agent() -> None:
    agent = Agent()
    agent.symboliser.failure = KeyError("x")
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        await agent.clock.until_sleeping()
        await agent.clock.advance(10)
        failed = await agent.link.ended("p1")
        assert failed.state == "refused"
        assert "a defect of nemutator (KeyError)" in failed.reason
        agent.symboliser.failure = None
        await agent.link.ask_for(replace(REQUEST, id="p2"))
        await agent.clock.until_sleeping()
        await agent.clock.advance(10)
        assert (await agent.link.ended("p2")).state == "done"


async def test_a_profile_that_is_too_large_is_refused() -> None:
    agent = Agent()
    agent.symboliser.answer = bytes(LARGEST_PROFILE_BYTES + 1)
    refused = await agent.outcome(REQUEST, after_s=10)
    assert refused.state == "refused"
    assert "ask for a shorter time" in refused.remedy
    assert refused.pprof == b""


async def test_a_process_that_cannot_be_looked_at_in_time_costs_only_its_repair() -> None:
    agent = Agent()
    agent.code.stuck.add(8)
    done = await agent.outcome(REQUEST, after_s=10)
    assert done.state == "done"
    assert done.notes[0].startswith("1 process could not be looked at in time")
    assert agent.sampler.started == [(TargetSelection("process", 7), 50, {7: (0x10, 0x30)})]


async def test_a_process_that_starts_in_the_session_has_its_callers_put_back() -> None:
    agent = Agent()
    agent.symboliser.texts |= {7: (0x18, 0x28), 9: (0x50, 0x60)}
    late = [SeenProgram((number, 1), 2, 3, 4) for number in (7, 9, 10)]
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        await agent.clock.until_sleeping()
        (sampling,) = agent.sampler.samplings
        sampling.seen = late
        await agent.clock.advance(5)
        sampling.seen = late
        assert agent.symboliser.kept == late
        await agent.clock.advance(5)
        await agent.link.ended("p1")
    assert agent.symboliser.kept == []
    # Of the first one all code of its executable was taken for Go until it was seen.
    assert sampling.texts == {7: (0x18, 0x28), 9: (0x50, 0x60), 10: NO_TEXT}


async def test_the_session_that_is_cut_off_does_not_sample_on() -> None:
    agent = Agent()
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        await agent.clock.until_sleeping()
    (sampling,) = agent.sampler.samplings
    assert sampling.ended


async def test_sessions_come_one_after_the_other_and_the_queue_is_short() -> None:
    agent = Agent()
    several = [replace(REQUEST, id=f"p{number}") for number in range(MOST_WAITING + 2)]
    async with agent.running():
        await agent.link.ask_for(several[0])
        await agent.clock.until_sleeping()
        await agent.link.ask_for(*several[1:])
        last = await agent.link.ended(several[-1].id)
        assert last.state == "refused"
        assert f"{MOST_WAITING} profiles wait" in last.reason
        for one in several[:-1]:
            await agent.clock.until_sleeping()
            await agent.clock.advance(10)
            await agent.link.ended(one.id)
    done = [one.id for one in agent.link.told if one.state == "done"]
    assert done == [one.id for one in several[:-1]]


async def test_a_request_that_is_repeated_is_one_request() -> None:
    agent = Agent()
    agent.link.repeats = True
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        # The session, and the pause before the brain is asked again.
        await agent.clock.until_sleeping(2)
        await agent.clock.advance(5)
        await agent.clock.until_sleeping(2)
        await agent.clock.advance(5)
        await agent.link.ended("p1")
    assert [one.state for one in agent.link.told if one.state != "running"] == ["done"]
    assert len(agent.sampler.started) == 1
    assert agent.link.calls > 2


async def test_a_brain_that_is_away_gets_the_outcome_later() -> None:
    agent = Agent()
    agent.link.failures = [LinkUnavailableError("connection", "no brain answers")] * 3
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        async with asyncio.timeout(60):
            while len(agent.link.told) < 2:
                await agent.clock.until_sleeping()
                await agent.clock.advance(10)
    assert agent.link.told[-1].state == "done"
    failures = agent.meter.total(names.UPLINK_FAILURES, stream="profiles", reason="connection")
    assert failures == 3


async def test_a_profile_that_the_brain_does_not_take_becomes_a_refusal() -> None:
    agent = Agent()
    async with agent.running():
        await agent.link.ask_for(REQUEST)
        await agent.link.heard(1)
        agent.link.failures = [BatchRefusedError("too_large", "413")]
        await agent.clock.until_sleeping()
        await agent.clock.advance(10)
        last = await agent.link.ended("p1")
    assert last.state == "refused"
    assert "the brain did not take the profile (413)" in last.reason
    assert agent.meter.value(names.PROFILE_OUTCOMES_DROPPED, reason="too_large") == 1


HEAP = ProfileRequest(id="h1", target=TARGET, seconds=0, hz=0, measure="heap")


async def test_a_heap_is_read_at_once_of_all_processes() -> None:
    agent = Agent()
    done = await agent.outcome(HEAP)
    assert done == ProfileOutcome(
        id="h1", node="n1", state="done", started_at=4.0, recorded=5, notes=("as of\\n9",),
        pprof=b"heap",
    )  # fmt: skip
    assert agent.heaps.asked == [(7, 8)]
    assert agent.sampler.started == []
    assert agent.meter.value(names.PROFILE_SESSIONS, result="done") == 1


async def test_a_heap_that_cannot_be_read_is_refused_with_its_reason() -> None:
    agent = Agent(heaps=MemoryHeaps(ProfileRefused("heap", "no Go", remedy="use Go")))
    refused = await agent.outcome(HEAP)
    assert (refused.state, refused.reason, refused.remedy) == ("refused", "no Go", "use Go")
    assert agent.meter.value(names.PROFILE_SESSIONS, result="heap") == 1


async def test_a_heap_that_is_too_large_is_refused() -> None:
    large = HeapReading(bytes(LARGEST_PROFILE_BYTES + 1), 1, (), 0.0)
    refused = await Agent(heaps=MemoryHeaps(large)).outcome(HEAP)
    assert "more than" in refused.reason


OFF_CPU = ProfileRequest(id="o1", target=TARGET, seconds=10, hz=0, measure="off-cpu")


async def test_time_off_the_cpu_is_timed_and_not_sampled() -> None:
    agent = Agent()
    agent.off_cpu.lost = {"stacks_full": 2_000_000_000}
    agent.off_cpu.untimed = 3
    done = await agent.outcome(OFF_CPU, after_s=10)
    assert (done.state, done.seconds, done.hz, done.recorded) == ("done", 10, 0, 400)
    assert done.lost == {"stacks_full": 2_000_000_000}
    assert done.notes == (
        "2.0 s are lost: stacks full",
        "3 waits were not timed: too many threads were blocked at once",
        "names are numbers",
    )
    assert agent.off_cpu.started == [(TargetSelection("process", 7), 0, {7: (0x10, 0x30)})]
    assert agent.sampler.started == []
    (raw,) = agent.symboliser.seen
    assert raw.is_off_cpu
    assert agent.meter.value(names.PROFILE_SAMPLES, result="recorded") == 0


async def test_time_off_the_cpu_has_the_same_limit_of_seconds() -> None:
    refused = await Agent().outcome(replace(OFF_CPU, seconds=61))
    assert "this node makes no profile of 61 s" in refused.reason
