import contextlib

import pytest
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_common import names

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.window_parts import CountedCosts, ListSink


class Node:
    def __init__(self) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.sink, self.costs = ListSink(), CountedCosts()
        process = fake_process(clock=self.clock, meter=self.meter)
        self.limit = WindowLimit(
            WindowBudget(0.02, 100 << 20), self.costs, self.sink, process, node="n"
        )

    def spend(self, seconds: float) -> None:
        with self.limit.measured():
            self.costs.spent_s += seconds


def test_within_the_budget_nothing_is_told() -> None:
    node = Node()
    assert node.limit.allows()
    node.spend(0.5)
    assert node.limit.allows()
    assert not node.sink.records
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == 0.5


async def test_a_stop_is_told_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    node = Node()
    node.spend(12.0)
    assert not node.limit.allows()
    assert not node.limit.allows()
    (pause,) = node.sink.pauses
    assert (pause.paused, pause.reason) == (True, "cpu")
    assert pause.why == "a look takes 12.00 s of CPU time; 0.00 s are left of the budget"
    assert node.meter.value(names.WINDOWS_STOPPED, reason="cpu") == 1
    assert [one.message for one in caplog.records] == ["windows_stopped"]
    await node.clock.advance(10_000)
    assert node.limit.allows()
    assert node.sink.pauses[1].paused is False
    assert node.meter.value(names.WINDOWS_STOPPED, reason="cpu") == 0


def test_memory_stops_too() -> None:
    node = Node()
    node.costs.held_bytes = 300 << 20
    assert not node.limit.allows()
    (pause,) = node.sink.pauses
    assert (pause.reason, pause.why) == ("memory", "observe holds 300 MiB, more than 100 MiB")
    assert "window_memory_bytes" in pause.remedy


def test_a_look_that_fails_has_cost_as_well() -> None:
    node = Node()
    with contextlib.suppress(ZeroDivisionError), node.limit.measured():
        node.costs.spent_s += 3.0
        _ = 1 / 0
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == 3.0
