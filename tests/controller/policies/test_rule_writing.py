"""The entry for templates has rules while a policy asks for them, and gets them back when they are lost."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import ForbiddenError, KubeError, NotFoundError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.rule_writing import EVERY_S, TemplateRuleWriter
from nemutator_controller.policies.template_rules import ENTRY

from tests.controller.policies.test_status_writer import NO_WATCH_LIST, SOUND, listed, policy
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, ScriptedTransport

TEMPLATE = SOUND | {"applyTo": "template", "match": {"ownerKinds": ["Deployment"]}}


class Configuration(ScriptedTransport):
    """An API server that has our configuration, and says when somebody has asked for it."""

    def __init__(self) -> None:
        super().__init__()
        self.rules: list[Any] = []
        self.there = True
        self.failure: KubeError | None = None
        self.asked = asyncio.Semaphore(0)
        self.written = asyncio.Semaphore(0)

    async def send(self, call: Call) -> bytes:
        if call.method == "GET":
            self.asked.release()
            if not self.there:
                raise NotFoundError("get", "not found")
            entry = {"name": ENTRY, "rules": self.rules}
            return msgspec.json.encode({"webhooks": [entry]})
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.rules = msgspec.json.decode(call.body)[-1]["value"]
        self.written.release()
        return b"{}"


@contextlib.asynccontextmanager
async def writing(server: Configuration, spec: Any) -> AsyncIterator[ManualClock]:
    clock = ManualClock()
    watched = ScriptedTransport(NO_WATCH_LIST, listed(policy("a", 1, spec)))
    informer = Informer(
        MUTATION_POLICIES, transport=watched, process=fake_process(clock=EagerClock())
    )
    rules = TemplateRuleWriter(
        informer,
        Reader(server),
        Writer(server, WriteBudget(EagerClock()), EagerClock()),
        "nemutator",
        fake_process(clock=clock),
    )
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        runs = informer.run, rules.follow, rules.check, rules.write
        tasks = [group.create_task(run()) for run in runs]
        yield clock
        for task in tasks:
            task.cancel()


async def test_rules_are_written_for_a_policy_and_again_when_they_are_lost() -> None:
    server = Configuration()
    async with writing(server, TEMPLATE) as clock:
        await server.written.acquire()
        assert [rule["resources"] for rule in server.rules] == [["deployments"]]
        server.rules = []
        await clock.until_sleeping()
        await clock.advance(EVERY_S)
        await server.written.acquire()
    assert [rule["resources"] for rule in server.rules] == [["deployments"]]


async def test_without_such_a_policy_the_entry_has_no_rules() -> None:
    server = Configuration()
    server.rules = [{"resources": ["deployments"]}]
    async with writing(server, SOUND):
        await server.written.acquire()
    assert server.rules == []


async def test_what_could_not_be_written_is_tried_again() -> None:
    server = Configuration()
    server.failure = ForbiddenError("patch", "forbidden to us")
    async with writing(server, TEMPLATE) as clock:
        await server.asked.acquire()
        # `check` and the pause after the failure.
        await clock.until_sleeping(2)
        await clock.advance(1.0)
        await server.written.acquire()
    assert server.rules


async def test_without_the_configuration_there_is_nothing_to_write() -> None:
    server = Configuration()
    server.there = False
    async with writing(server, TEMPLATE) as clock:
        await server.asked.acquire()
        server.there = True
        await clock.until_sleeping()
        await clock.advance(EVERY_S)
        await server.written.acquire()
    assert server.rules
