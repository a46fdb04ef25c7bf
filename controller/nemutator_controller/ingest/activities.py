"""What a batch says beside CPU and memory, laid out for the checks of `batches.py`."""

from collections.abc import Iterable, Iterator

from nemutator_common.wire import Machine, Report
from nemutator_common.wire_activity import Activity, Flow, NetworkRates

MOST_FLOWS = 5_000
"""After an outage: 16 peers a minute, for hours."""
MOST_FILE_SYSTEMS = 500
MOST_INTERFACES = 1_000
MOST_TEMPERATURES = 1_000

LONGEST_ADDRESS = 64
COLDEST = -273.15

HIGHEST_PORT = 65_535


def numbers(report: Report) -> Iterator[float | None]:
    """All numbers of *report* that may not be negative."""
    machine = report.machine
    yield from (machine.booted_at, machine.pids, machine.most_pids)
    yield from (machine.pods_memory_bytes, machine.most_pods_pids)
    for disk in machine.file_systems:
        yield from (disk.total_bytes, disk.used_bytes)
    for interface in machine.interfaces:
        yield interface.megabits
        yield from _traffic(interface.traffic)
    for workload in report.workloads:
        if workload.activity is not None:
            yield from _activity(workload.activity)
    for one in report.summaries:
        yield from (one.throttled, one.oom_kills, one.network_received, one.network_sent)
        yield from (one.disk_read, one.disk_written, one.run_delay, one.run_delay_p99)
        yield from (one.cpu_waiting, one.memory_waiting, one.disk_waiting)
    for flow in report.flows:
        yield from (flow.port, flow.received, flow.sent, flow.connections, flow.from_at, flow.to_at)


def _activity(activity: Activity) -> Iterator[float | None]:
    yield from (activity.throttled, activity.throttled_s, activity.oom_kills, activity.pids)
    yield from (activity.open_files, activity.run_delay, activity.run_delay_p99, activity.starts)
    yield from (activity.disk_read, activity.disk_written, activity.processes_started)
    if activity.traffic is not None:
        yield from _traffic(activity.traffic)


def _traffic(traffic: NetworkRates) -> Iterable[float | None]:
    return (
        traffic.received,
        traffic.sent,
        traffic.packets_received,
        traffic.packets_sent,
        traffic.drops,
        traffic.errors,
    )


def texts(report: Report, longest_name: int) -> Iterator[tuple[str, int, Iterable[str]]]:
    """All texts of each kind, with the most characters that one may have."""
    machine, flows = report.machine, report.flows
    if disks := machine.file_systems:
        yield "path of a file system", longest_name, (one.path for one in disks)
        yield "device of a file system", longest_name, (one.device for one in disks)
        yield "kind of a file system", longest_name, (one.kind for one in disks)
    yield "name of an interface", longest_name, (one.name for one in machine.interfaces)
    yield "sensor", longest_name, (one.sensor for one in machine.temperatures)
    if flows:
        yield "pod_uid of a flow", longest_name, (one.pod_uid for one in flows)
        yield "address of a flow", LONGEST_ADDRESS, (one.address for one in flows)


def counts(machine: Machine, flows: tuple[Flow, ...]) -> Iterator[tuple[str, int, int]]:
    """What there is several of, how many there are, and how many are taken."""
    yield "flows", len(flows), MOST_FLOWS
    yield "file_systems", len(machine.file_systems), MOST_FILE_SYSTEMS
    yield "interfaces", len(machine.interfaces), MOST_INTERFACES
    yield "temperatures", len(machine.temperatures), MOST_TEMPERATURES


def wrong(report: Report) -> str | None:
    """What no bound of a single number or text can say; None when nothing is wrong."""
    if not all(COLDEST <= one.celsius <= 1e4 for one in report.machine.temperatures):
        return "a temperature is out of range"
    shares = (one.throttled for one in report.summaries)
    held = (one.activity.throttled for one in report.workloads if one.activity is not None)
    if any(share is not None and share > 1 for each in (shares, held) for share in each):
        return "more than all periods were throttled"
    if any(flow.port > HIGHEST_PORT for flow in report.flows):
        return "there is no such port"
    if any(flow.from_at > flow.to_at for flow in report.flows):
        return "a flow ends before it begins"
    return None
