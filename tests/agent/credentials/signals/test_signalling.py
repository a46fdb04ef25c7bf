import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
from nemutator_agent.credentials.signals.outcomes import SignalOutcome
from nemutator_agent.credentials.signals.signalling import APART_S, SETTLE_S, RotationSignals
from nemutator_common import names
from nemutator_common.on_rotate import ContainerSignal

from tests.fakes.brokers import BrokerSetup
from tests.fakes.container_signals import RecordedSignals
from tests.fakes.peers import POD

HUP = ContainerSignal("HUP", "web")
SENT = f"{POD.uid} signal:HUP@web"


class Changes:
    """A `SettlesChanges`."""

    def __init__(self) -> None:
        self.is_unsettled = False
        self.settled = 0

    def settling(self) -> Callable[[], None]:
        self.is_unsettled = False

        def settle() -> None:
            self.settled += 1

        return settle


class Setup:
    def __init__(self, wanted: ContainerSignal | None = HUP) -> None:
        self.broker = BrokerSetup()
        self.containers = RecordedSignals()
        self.changes = Changes()
        self.signals = RotationSignals(
            POD,
            wanted,
            self.containers,
            self.broker.process,
            audit=self.broker.audit,
            changes=self.changes,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.signals.run())
            yield
            running.cancel()

    async def after(self, seconds: float) -> None:
        await self.broker.clock.until_sleeping()
        await self.broker.clock.advance(seconds)


async def test_changes_of_one_moment_are_one_signal() -> None:
    setup = Setup()
    async with setup.running():
        setup.signals.due()
        await setup.broker.clock.until_sleeping()
        setup.signals.due()
        assert setup.containers.sent == []
        await setup.after(SETTLE_S)
        assert setup.containers.sent == [SENT]
        await setup.broker.clock.advance(APART_S)
        assert setup.containers.sent == [SENT]


async def test_a_later_change_is_another_one_and_not_at_once() -> None:
    setup = Setup()
    async with setup.running():
        setup.signals.due()
        await setup.after(SETTLE_S)
        setup.signals.due()
        await setup.after(APART_S - 0.1)
        assert setup.containers.sent == [SENT]
        await setup.broker.clock.advance(0.1)
        assert setup.containers.sent == [SENT, SENT]


async def test_what_is_sent_is_recorded() -> None:
    setup = Setup()
    async with setup.running():
        setup.signals.due()
        await setup.after(SETTLE_S)
    assert setup.broker.grants.of("signal") == ["granted"]
    assert setup.broker.grants.all[-1].reason == "signal:HUP@web"
    assert setup.broker.meter.value(names.ROTATION_SIGNALS, result="sent") == 1


@pytest.mark.parametrize(
    ("outcome", "remedy"),
    [
        (SignalOutcome.UNCAUGHT, "catch this signal"),
        (SignalOutcome.CONTAINER, "name a container"),
        (SignalOutcome.FORBIDDEN, "capability KILL"),
    ],
)
async def test_what_is_not_sent_is_told_with_what_to_do(
    outcome: SignalOutcome, remedy: str, caplog: pytest.LogCaptureFixture
) -> None:
    setup = Setup()
    setup.containers.outcome = outcome
    async with setup.running():
        setup.signals.due()
        await setup.after(SETTLE_S)
    (grant,) = setup.broker.grants.all
    assert (grant.operation, grant.result) == ("signal", "failed")
    assert grant.reason.startswith(f"signal:HUP@web: {outcome}; ")
    assert remedy in grant.reason
    assert setup.broker.meter.value(names.ROTATION_SIGNALS, result=outcome) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_who_declares_none_gets_none() -> None:
    setup = Setup(None)
    async with setup.running():
        setup.signals.due()
        await setup.after(SETTLE_S)
    assert (setup.containers.sent, setup.broker.grants.all) == ([], [])
    assert setup.changes.settled == 0


async def test_it_is_due_for_a_change_until_its_signal_was_sent() -> None:
    setup = Setup()
    async with setup.running():
        setup.signals.due_if_changed()
        setup.changes.is_unsettled = True
        setup.signals.due_if_changed()
        await setup.broker.clock.until_sleeping()
        assert setup.changes.settled == 0
        await setup.broker.clock.advance(SETTLE_S)
        assert (setup.containers.sent, setup.changes.settled) == ([SENT], 1)
        setup.signals.due_if_changed()
        await setup.broker.clock.advance(APART_S)
    assert setup.containers.sent == [SENT]
