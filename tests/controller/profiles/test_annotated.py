import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Literal

from nemutator_common.wire import ProfileOutcome
from nemutator_controller.profiles.annotated import AGAIN_S, AnnotatedProfiles
from nemutator_controller.profiles.annotations import profile_id
from nemutator_controller.profiles.profile_queue import ProfileQueue
from nemutator_controller.profiles.records import AnnotatedPod

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.profiles import NOW, POD, MemoryProfiles, ScriptedPods

SLEEPERS = 1
"""The task that asks again for what could not be begun."""


class Bench:
    def __init__(self, store: MemoryProfiles | None = None) -> None:
        self.clock = ManualClock(NOW)
        self.store, self.pods = store or MemoryProfiles(), ScriptedPods()
        self.desk = ProfileQueue(
            self.store,
            most=9,
            most_bytes=1 << 20,
            process=fake_process(meter=MemoryMeter(), clock=self.clock),
        )
        self.annotated = AnnotatedProfiles(
            self.desk,
            self.pods,
            self.pods,
            link=lambda one: f"/{one}",
            process=fake_process(clock=self.clock),
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            bodies = (self.annotated.ask, self.annotated.write)
            tasks = [group.create_task(body()) for body in bodies]
            await self.clock.until_sleeping(SLEEPERS)
            yield
            for task in tasks:
                task.cancel()

    async def annotate(self, wanted: str, result: str | None = None) -> None:
        self.pods.put(AnnotatedPod(POD, "n1", wanted, result))
        await self.clock.advance(0)

    async def report(self, wanted: str, state: Literal["running", "done", "refused"]) -> None:
        content = b"x" if state == "done" else b""
        identity = profile_id(POD.uid, wanted)
        await self.desk.report(
            ProfileOutcome(id=identity, node="n1", state=state, pprof=content, reason="no Go")
        )
        await self.clock.advance(0)

    def states(self) -> list[str]:
        return [json.loads(text)["state"] for _, text in self.pods.written]


async def test_a_request_is_begun_once_and_its_result_written_as_it_goes() -> None:
    bench = Bench()
    async with bench.running():
        for _ in range(3):
            await bench.annotate("cpu 10s at=49hz")
        [request] = await bench.desk.take("n1", 0.0)
        assert (request.target.kind, request.target.value) == ("pod", POD.uid)
        assert (request.seconds, request.hz) == (10.0, 49)
        await bench.report("cpu 10s at=49hz", "running")
        await bench.report("cpu 10s at=49hz", "done")
    assert bench.states() == ["running", "done"]
    assert json.loads(bench.pods.written[-1][1])["link"] == f"/{request.id}"


async def test_another_value_is_another_request() -> None:
    bench = Bench()
    async with bench.running():
        await bench.annotate("cpu 10s id=1")
        await bench.annotate("cpu 10s id=2")
        assert len(await bench.desk.take("n1", 0.0)) == 2


async def test_nonsense_is_refused_on_the_pod_once() -> None:
    bench = Bench()
    async with bench.running():
        await bench.annotate("disk please")
        await bench.annotate("disk please", bench.pods.written[0][1])
        assert await bench.desk.take("n1", 0.0) == ()
    [state] = bench.states()
    assert state.startswith("refused: only `cpu`")
    [note] = bench.pods.told
    assert "nemutator.io/profile" in note


async def test_a_refusal_of_the_agent_is_written_with_its_reason() -> None:
    bench = Bench()
    async with bench.running():
        await bench.annotate("cpu")
        await bench.report("cpu", "refused")
    assert bench.states() == ["refused: no Go"]


async def test_a_brain_that_starts_again_repeats_nothing() -> None:
    before = Bench()
    async with before.running():
        await before.annotate("cpu")
        await before.report("cpu", "done")
    [(_, written)] = before.pods.written
    stored, forgotten = Bench(before.store), Bench()
    async with stored.running(), forgotten.running():
        # One remembers it, the other finds the result on the pod.
        await stored.annotate("cpu", None)
        await forgotten.annotate("cpu", written)
        assert await stored.desk.take("n1", 0.0) == await forgotten.desk.take("n1", 0.0) == ()
    assert stored.pods.written == [(POD, written)]
    assert forgotten.pods.written == []


async def test_a_result_that_cannot_be_written_is_tried_again() -> None:
    bench = Bench()
    bench.pods.broken = True
    async with bench.running():
        await bench.annotate("cpu")
        await bench.report("cpu", "running")
        await bench.report("cpu", "done")
        assert bench.pods.written == []
        bench.pods.broken = False
        await bench.clock.advance(AGAIN_S)
    assert bench.states() == ["done"]


async def test_a_request_that_cannot_be_stored_is_tried_again() -> None:
    bench = Bench()
    bench.store.broken = "full"
    async with bench.running():
        await bench.annotate("cpu")
        assert await bench.desk.take("n1", 0.0) == ()
        bench.store.broken = None
        await bench.clock.advance(AGAIN_S)
        assert len(await bench.desk.take("n1", 0.0)) == 1


async def test_a_pod_that_asks_for_nothing_or_is_nowhere_is_left_alone() -> None:
    bench = Bench()
    async with bench.running():
        await bench.annotate("  ")
        bench.pods.put(AnnotatedPod(POD, "", "cpu", None))
        await bench.clock.advance(0)
    assert bench.store.kept == {}
