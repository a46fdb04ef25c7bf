"""The status of policies is written when it changes, and again later when that failed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import ForbiddenError, InvalidError, NotFoundError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.status_writer import PolicyStatusWriter

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")
SOUND = {"mutations": [{"labels": {"set": {"team": "a"}}}]}
FAULTY: dict[str, Any] = {"mutations": []}


def policy(name: str, version: int, spec: Any, status: Any = None) -> dict[str, Any]:
    metadata = {"name": name, "uid": name, "resourceVersion": str(version), "generation": 1}
    return {"metadata": metadata, "spec": spec} | ({"status": status} if status else {})


def listed(*items: dict[str, Any]) -> bytes:
    head = {"kind": "List", "metadata": {"resourceVersion": "9"}}
    return msgspec.json.encode(head | {"items": items})


class LoudMeter(MemoryMeter):
    """Says when something was counted."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = asyncio.Event()

    def count(self, metric: names.Metric, amount: float = 1, /, **labels: str) -> None:
        super().count(metric, amount, **labels)
        self.counted.set()


class Play:
    def __init__(self, watched: list[Said | list[Said]], writes: ScriptedTransport) -> None:
        self.clock, self.meter = ManualClock(), LoudMeter()
        self.reads, self.writes = ScriptedTransport(*watched), writes
        self.informer = Informer(
            MUTATION_POLICIES,
            transport=self.reads,
            process=fake_process(clock=EagerClock(), meter=self.meter),
        )
        writer = Writer(self.writes, WriteBudget(EagerClock()), EagerClock())
        self.telling = PolicyStatusWriter(
            self.informer, writer, process=fake_process(meter=self.meter, clock=self.clock)
        )

    def said(self) -> list[tuple[str, str, str]]:
        """Path, status and message of each write."""
        found = []
        for call in self.writes.calls:
            [condition] = msgspec.json.decode(call.body)["status"]["conditions"]
            found.append((call.path, condition["status"], condition["message"]))
        return found

    async def until_counted(self, result: str, times: int) -> None:
        async with asyncio.timeout(60):
            while self.meter.value(names.POLICY_STATUSES, result=result) < times:
                self.meter.counted.clear()
                await self.meter.counted.wait()


@contextlib.asynccontextmanager
async def played(
    watched: list[Said | list[Said]], written: list[Said] | ScriptedTransport
) -> AsyncIterator[Play]:
    play = Play(watched, ScriptedTransport(*written) if isinstance(written, list) else written)
    async with asyncio.TaskGroup() as group:
        runs = play.informer.run, play.telling.follow, play.telling.write
        tasks = [group.create_task(run()) for run in runs]
        yield play
        for task in tasks:
            task.cancel()


def as_written(name: str, status: str) -> bytes:
    """What the server answers; the time is `ManualClock`'s."""
    return msgspec.json.encode(
        policy(name, 20, SOUND, {"conditions": [{"type": "Ready", "status": status}]})
    )


SHORT = "spec.mutations: expected `array` of length >= 1; see kubectl explain mutationpolicies.spec"


async def test_each_policy_is_told_what_is_wrong_with_it() -> None:
    watched: list[Said | list[Said]] = [
        NO_WATCH_LIST,
        listed(policy("good", 1, SOUND), policy("bad", 2, FAULTY)),
    ]
    written: list[Said] = [as_written("bad", "False"), as_written("good", "True")]
    async with played(watched, written) as play:
        await play.until_counted("written", 2)
        at = "/apis/nemutator.io/v1alpha1/mutationpolicies"
        assert sorted(play.said()) == [
            (f"{at}/bad/status", "False", SHORT),
            (f"{at}/good/status", "True", ""),
        ]


async def test_what_could_not_be_written_is_tried_again() -> None:
    watched: list[Said | list[Said]] = [NO_WATCH_LIST, listed(policy("good", 1, SOUND))]
    refused = ForbiddenError("patch mutationpolicies/status", "forbidden to us")
    async with played(watched, [refused, as_written("good", "True")]) as play:
        await play.until_counted("failed", 1)
        await play.clock.until_sleeping()
        await play.clock.advance(60.0)
        await play.until_counted("written", 1)


async def test_one_that_is_gone_is_not_waited_for() -> None:
    watched: list[Said | list[Said]] = [
        NO_WATCH_LIST,
        listed(policy("gone", 1, SOUND), policy("next", 2, SOUND)),
    ]
    gone = NotFoundError("patch", "not found")
    async with played(watched, [gone, as_written("next", "True")]) as play:
        await play.until_counted("written", 1)
        assert play.meter.total(names.POLICY_STATUSES) == 1


class RefusingOnce(ScriptedTransport):
    """Stores each status, but refuses the first write of the policy "next"."""

    def __init__(self, generation: int) -> None:
        super().__init__()
        self._generation = generation

    async def send(self, call: Call) -> bytes:
        name = call.path.split("/")[-2]
        known = any(earlier.path == call.path for earlier in self.calls)
        self.calls.append(call)
        if name == "next" and not known:
            raise ForbiddenError("patch mutationpolicies/status", "forbidden to us")
        return as_stored(name, self._generation)


@pytest.mark.parametrize(("generation", "writes"), [(1, 1), (2, 2)], ids=["same", "newer"])
async def test_a_status_is_written_once_unless_its_policy_has_changed(
    generation: int, writes: int
) -> None:
    policies = listed(policy("good", 1, SOUND), policy("next", 2, SOUND))
    async with played([NO_WATCH_LIST, policies], RefusingOnce(generation)) as play:
        await play.until_counted("failed", 1)
        await play.clock.until_sleeping()
        await play.clock.advance(60.0)
        await play.until_counted("written", 1 + writes)
        assert sum("/good/" in path for path, _, _ in play.said()) == writes


def as_stored(name: str, generation: int) -> bytes:
    """The server's answer with the whole condition that was written at `ManualClock`'s time."""
    moment = datetime.fromtimestamp(ManualClock().now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Sound",
        "message": "",
        "observedGeneration": 1,
        "lastTransitionTime": moment,
    }
    stored = policy(name, 20, SOUND, {"conditions": [condition]})
    stored["metadata"]["generation"] = generation
    return msgspec.json.encode(stored)
