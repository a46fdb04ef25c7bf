import contextlib

import pytest
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_common import names
from nemutator_common.windows import PAUSE_REPEATED_S

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
        with self.limit.measured("heap"):
            self.costs.spent_s += seconds


def test_within_the_budget_nothing_is_told() -> None:
    node = Node()
    assert node.limit.allows("heap")
    node.spend(0.5)
    assert node.limit.allows("heap")
    assert not node.sink.records
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == 0.5


async def test_a_stop_is_told_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    node = Node()
    node.spend(12.0)
    assert not node.limit.allows("heap")
    assert not node.limit.allows("heap")
    (pause,) = node.sink.pauses
    assert (pause.paused, pause.reason) == (True, "cpu")
    assert pause.why == "a look takes 12.00 s of CPU time; 0.00 s are left of the budget"
    assert node.meter.value(names.WINDOWS_STOPPED, reason="cpu") == 1
    assert [one.message for one in caplog.records] == ["windows_stopped"]
    await node.clock.advance(10_000)
    assert node.limit.allows("heap")
    assert node.sink.pauses[1].paused is False
    assert node.meter.value(names.WINDOWS_STOPPED, reason="cpu") == 0


async def test_a_stop_that_goes_on_is_told_again() -> None:
    node = Node()
    node.costs.held_bytes = 300 << 20
    for _ in range(2):
        assert not node.limit.allows("heap")
        await node.clock.advance(PAUSE_REPEATED_S)
    assert [one.paused for one in node.sink.pauses] == [True, True]
    node.costs.held_bytes = 0
    assert node.limit.allows("heap")
    assert (node.sink.pauses[-1].paused, node.sink.pauses[-1].reason) == (False, "memory")


def test_memory_stops_too() -> None:
    node = Node()
    node.costs.held_bytes = 300 << 20
    assert not node.limit.allows("heap")
    (pause,) = node.sink.pauses
    assert (pause.reason, pause.why) == ("memory", "observe holds 300 MiB, more than 100 MiB")
    assert "window_memory_bytes" in pause.remedy


def test_a_look_that_fails_has_cost_as_well() -> None:
    node = Node()
    with contextlib.suppress(ZeroDivisionError), node.limit.measured("heap"):
        node.costs.spent_s += 3.0
        _ = 1 / 0
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == 3.0


def test_what_others_take_for_a_look_counts_and_what_it_waits_for_does_not() -> None:
    node = Node()
    with node.limit.measured("cpu") as cost:
        node.costs.spent_s += 1.0
        with cost.unmeasured():
            node.costs.spent_s += 50.0
        cost.add(0.25)
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == 1.25


async def test_looks_that_may_begin_do_not_end_the_stop_of_the_others() -> None:
    node = Node()
    with node.limit.measured("cpu"):
        node.costs.spent_s += 1.5
    assert not node.limit.allows("cpu")
    assert node.limit.allows("heap")
    assert not node.limit.allows("cpu")
    assert [one.paused for one in node.sink.pauses] == [True]
    await node.clock.advance(1_000)
    assert node.limit.allows("heap")
    assert node.limit.allows("cpu")
    assert [one.paused for one in node.sink.pauses] == [True, False]


def test_memory_that_is_free_again_is_free_for_all_looks() -> None:
    node = Node()
    node.costs.held_bytes = 300 << 20
    assert not node.limit.allows("heap")
    assert not node.limit.allows("cpu")
    node.costs.held_bytes = 0
    assert node.limit.allows("heap")
    assert [one.paused for one in node.sink.pauses] == [True, False]
    assert node.meter.value(names.WINDOWS_STOPPED, reason="memory") == 0
