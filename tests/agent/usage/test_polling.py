import asyncio
import contextlib
from collections.abc import AsyncIterator

from nemutator_agent.inspection.executables import Executables
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.polling import MOST_SUMMARIES, PART, UsagePoller
from nemutator_agent.usage.snapshot import MachineFacts, MachineSnapshot
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_common.wire import Missing, Report
from nemutator_common.wire_activity import Flow

from tests.fakes.clocks import ManualClock
from tests.fakes.executables import ScriptedPrograms, ScriptedWorker
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.snapshots import FACTS, group, process, snapshot

SERVICE = "/system.slice/shop.service"


class ScriptedMachine:
    def __init__(self) -> None:
        self.blind = False
        self.snapshots = 0
        self.services = [SERVICE]

    def facts(self) -> MachineFacts:
        return FACTS

    def snapshot(self, *, at: float, monotonic: float) -> MachineSnapshot:
        if self.blind:
            raise MalformedError("/proc/stat: cannot be read")
        self.snapshots += 1
        return snapshot(
            monotonic,
            busy_ticks=self.snapshots * 300,
            groups=dict.fromkeys(self.services, group(self.snapshots * 1_500_000)),
            processes={ProcessId(7, 0): process("/a")},
        )


class Bench:
    def __init__(self) -> None:
        self.clock, self.meter, self.readiness = ManualClock(), MemoryMeter(), Readiness()
        self.reader, self.reports = ScriptedMachine(), list[Report]()
        self.report_every_s = 0.0
        shared = fake_process(
            clock=self.clock, meter=self.meter, readiness=self.readiness, roll=0.0
        )
        executables = Executables(ScriptedPrograms(), ScriptedWorker(), shared)
        self.poller = UsagePoller(self.reader, executables, self, shared, interval_s=3.0)

    def put(self, report: Report) -> None:
        self.reports.append(report)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.poller.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()


async def test_it_looks_at_once_and_then_on_the_beat() -> None:
    bench = Bench()
    assert PART in bench.readiness.problems()
    async with bench.running():
        assert len(bench.reports) == 1
        await bench.clock.advance(9.0)
    assert [report.machine.cpu_cores for report in bench.reports] == [None, 1.0, 1.0, 1.0]
    assert PART not in bench.readiness.problems()
    assert bench.meter.value(names.USAGE_SNAPSHOTS, result="done") == 4


async def test_a_brain_that_asks_for_less_gets_fewer_reports_and_all_summaries() -> None:
    bench = Bench()
    async with bench.running():
        bench.report_every_s = 29.0
        await bench.clock.advance(65.0)
    assert bench.reader.snapshots == 22
    # On the nearest beat: every 30 s.
    assert [report.taken_at - bench.reports[0].taken_at for report in bench.reports] == [0, 30, 60]
    # Rates are those since the report before, not since the last snapshot.
    assert [report.machine.cpu_cores for report in bench.reports] == [None, 1.0, 1.0]
    summaries = [one for report in bench.reports for one in report.summaries]
    assert [one.to_at - one.from_at for one in summaries] == [15.0] * 4
    assert [one.cpu_cores for one in summaries] == [0.5] * 4
    ends = [one.to_at for one in summaries]
    assert [one.from_at for one in summaries[1:]] == ends[:-1]


async def test_summaries_that_wait_are_reported_before_they_are_too_many() -> None:
    bench = Bench()
    half = MOST_SUMMARIES // 2
    bench.reader.services = [f"/system.slice/{number}.service" for number in range(half)]
    async with bench.running():
        bench.report_every_s = 60.0
        await bench.clock.advance(45.0)
    assert [len(report.summaries) for report in bench.reports] == [0, MOST_SUMMARIES]


async def test_a_jump_of_the_wall_clock_changes_no_rate_and_no_identity() -> None:
    bench = Bench()
    async with bench.running():
        bench.clock.jump(-86_400)
        await bench.clock.advance(3.0)
    first, second = bench.reports
    assert second.machine.cpu_cores == 1.0
    assert first.processes[0].started_at == second.processes[0].started_at


async def test_a_machine_that_shows_nothing_is_said_and_tried_again() -> None:
    bench = Bench()
    bench.reader.blind = True
    async with bench.running():
        assert bench.readiness.problems()[PART] == "/proc/stat: cannot be read"
        bench.reader.blind = False
        await bench.clock.advance(3.0)
    assert PART not in bench.readiness.problems()
    assert bench.meter.value(names.USAGE_SNAPSHOTS, result="failed") == 1


class ScriptedFlows:
    def __init__(self) -> None:
        self.waiting: tuple[Flow, ...] = (
            Flow(
                pod_uid="u",
                address="10.0.0.7",
                port=1,
                protocol="tcp",
                direction="in",
                received=1,
                sent=2,
                connections=3,
                from_at=4.0,
                to_at=5.0,
            ),
        )

    def taken(self) -> tuple[Flow, ...]:
        flows, self.waiting = self.waiting, ()
        return flows

    def missing(self) -> tuple[Missing, ...]:
        return (Missing("a", "b", "c"),)


async def test_flows_are_reported_once_with_what_is_missing_of_them() -> None:
    bench = Bench()
    bench.poller.flows = ScriptedFlows()
    async with bench.running():
        await bench.clock.advance(3.0)
    assert [len(report.flows) for report in bench.reports] == [1, 0]
    assert bench.reports[0].missing[-1] == Missing("a", "b", "c")
