"""The usage loop of `observe` alone, for the bench `usage`: prints what it has cost, as JSON."""

import asyncio
import json
import resource
import sys

import msgspec
from nemutator_agent.inspection.executables import Executables
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.flow_reading import FlowReader
from nemutator_agent.usage.pod_sockets import PodSocketTables
from nemutator_agent.usage.polling import UsagePoller
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_common import names
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import Report

from tests.fakes.executables import ScriptedPrograms, ScriptedWorker
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


class Encoded:
    """Where reports go: they are encoded, as for the brain, and counted."""

    def __init__(self, report_every_s: float) -> None:
        self.report_every_s = report_every_s
        self.reports = 0
        self.last = b""
        self.flows = 0

    def put(self, report: Report) -> None:
        self.last = msgspec.json.encode(report)
        self.reports += 1
        self.flows += len(report.flows)


async def run(
    seconds: float, interval_s: float, seldom_s: float, report_s: float, flows: bool
) -> dict[str, float]:
    reader = ProcfsReader(
        CachedFiles(most=16_384),
        most_processes=4096,
        most_groups=2048,
        seldom_s=seldom_s,
        process_events=True,
    )
    clock, meter, sink = SystemClock(), MemoryMeter(), Encoded(report_s)
    process = fake_process(clock=clock, meter=meter)
    executables = Executables(ScriptedPrograms(), ScriptedWorker(), process)
    poller = UsagePoller(reader, executables, sink, process, interval_s=interval_s)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(poller.run())]
        if flows:
            # A pod every ten seconds where the default is a minute, so that a short run has several.
            poller.flows = FlowReader(
                PodSocketTables(reader.started_ticks),
                lambda: poller.latest[0] if poller.latest else None,
                process,
                in_thread=asyncio.to_thread,
                every_s=10.0,
            )
            tasks.append(group.create_task(poller.flows.run()))
        # The first snapshots open every file: what stands is what comes after them.
        await clock.sleep(2.5 * interval_s)
        begun, used, snapshots = clock.monotonic(), _cpu_s(), _snapshots(meter)
        await clock.sleep(seconds)
        elapsed, used, snapshots = (
            clock.monotonic() - begun,
            _cpu_s() - used,
            _snapshots(meter) - snapshots,
        )
        for task in tasks:
            task.cancel()
    assert poller.latest is not None
    seen = poller.latest[0]
    return {
        "percent": round(used / elapsed * 100, 3),
        "ms of CPU for a snapshot and its share of a report": round(used / snapshots * 1e3, 1),
        "snapshots": snapshots,
        "groups": len(seen.groups),
        "processes": len(seen.processes),
        "pods with a network": sum(one.traffic is not None for one in seen.activities.values()),
        "reports": sink.reports,
        "bytes of the last report": len(sink.last),
        "readings of flows": meter.value(names.FLOW_READINGS, result="done"),
        "anonymous memory, MiB": round(_anonymous_kib() / 1024, 1),
    }


def _snapshots(meter: MemoryMeter) -> float:
    return meter.value(names.USAGE_SNAPSHOTS, result="done")


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _anonymous_kib() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def main(arguments: list[str]) -> None:
    seconds, interval_s, seldom_s, report_s, flows = map(float, arguments)
    told = asyncio.run(run(seconds, interval_s, seldom_s, report_s, bool(flows)))
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
