"""Nodes as a table for people: first what the machine does, then what in it does it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nemutator_ctl.nodes import (
    RESOURCES,
    NodeSummary,
    ResourceWaits,
    ShownMachine,
    ShownNode,
    ShownProcess,
    ShownWorkload,
)
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

LAYOUT = (
    Column("NAME", limit=60),
    Column("KIND", limit=10),
    Column("CPU", right=True),
    Column("MEMORY", right=True),
    Column("CPU WAIT", right=True),
    Column("MEM WAIT", right=True),
    Column("IO WAIT", right=True),
    Column("RUNTIME", limit=24),
)

LIST_LAYOUT = (
    Column("NAME", limit=60),
    Column("STATE"),
    Column("SEEN", right=True),
    Column("CPU", right=True),
    Column("OF", right=True),
    Column("MEMORY", right=True),
    Column("OF", right=True),
    Column("CPU WAIT", right=True),
    Column("MEM WAIT", right=True),
    Column("IO WAIT", right=True),
    Column("PROCESSES", right=True),
)

UNKNOWN = "-"

NO_NODE = "No node has reported yet.\n"

LABELS = "kind, name, node, namespace, runtime, pod, container, owner"

MOST_NAMED = 20
"""Of namespaces, where the one that was asked for is not there."""


@dataclass(frozen=True, slots=True)
class BriefProcesses:
    """Those of one workload that live for seconds, as one row."""

    workload: str
    several: Sequence[ShownProcess]


def view(nodes: Sequence[ShownNode], *, brief: bool = False) -> str:
    """*brief*: what lives for seconds is shown by itself, too."""
    return "\n".join(_node(node, brief) for node in nodes) or NO_NODE


def list_view(nodes: Sequence[NodeSummary]) -> str:
    if not nodes:
        return NO_NODE
    rows = list(map(_listed, nodes))
    return table(LIST_LAYOUT, [*rows, _totals(nodes)] if len(rows) > 1 else rows)


def nothing_found(
    namespaces: Collection[str] | None, *, namespace: str | None, selector: str | None
) -> str:
    """That there is nothing of what was asked for, and what there is: the *namespaces* of all nodes; None without a node."""
    if namespaces is None:
        return NO_NODE
    there = sorted(namespaces)
    if namespace is not None and namespace not in there:
        named = ", ".join(visible(name, limit=63) for name in there[:MOST_NAMED])
        more = f" and {len(there) - MOST_NAMED} more" if len(there) > MOST_NAMED else ""
        return f"There is no namespace {visible(namespace, limit=63)}, but {named}{more}.\n"
    return f"Nothing has the labels {visible(selector or '', limit=100)}; there are {LABELS}.\n"


def _listed(node: NodeSummary) -> Sequence[str]:
    sums = node.sums
    return (
        node.name,
        "stale" if node.stale else "live",
        f"{node.age_s:.0f}s",
        _cores(sums.cpu_cores),
        UNKNOWN if sums.cpus is None else str(sums.cpus),
        _mebibytes(sums.memory_used_bytes),
        _mebibytes(sums.memory_bytes),
        *(_percent(sums.waiting.get(resource)) for resource in RESOURCES),
        UNKNOWN if sums.processes is None else str(sums.processes),
    )


def _totals(nodes: Sequence[NodeSummary]) -> Sequence[str]:
    sums = [node.sums for node in nodes]
    stale = sum(node.stale for node in nodes)
    return (
        f"all {len(nodes)}",
        f"{stale} stale" if stale else "live",
        "",
        _cores(sum(each.cpu_cores or 0.0 for each in sums)),
        str(sum(each.cpus or 0 for each in sums)),
        _mebibytes(sum(each.memory_used_bytes or 0 for each in sums)),
        _mebibytes(sum(each.memory_bytes or 0 for each in sums)),
        *[""] * len(RESOURCES),
        str(sum(each.processes or 0 for each in sums)),
    )


def _node(node: ShownNode, brief: bool) -> str:
    name, kernel = visible(node.name, limit=64), visible(node.machine.kernel, limit=64)
    seen = f"seen {node.age_s:.0f} s ago" + (", stale" if node.stale else "")
    head = [f"{name}: kernel {kernel}, {seen}", *_machine(node.machine), *_gaps(node)]
    return (
        "\n".join(head)
        + "\n"
        + table(LAYOUT, list(map(_cells, node.rows() if brief else folded(node))))
    )


def folded(node: ShownNode) -> Iterator[ShownWorkload | ShownProcess | BriefProcesses]:
    """Its rows; of a workload with several programs that live for seconds, those are the last row together."""
    left: dict[str, list[ShownProcess]] = {}
    for process in node.processes:
        if node.lives_briefly(process):
            left.setdefault(process.workload, []).append(process)
    held = {workload: several for workload, several in left.items() if len(several) > 1}
    for row in node.rows():
        if not isinstance(row, ShownProcess) or row not in held.get(row.workload, ()):
            yield row
        elif row is held[row.workload][-1]:
            yield BriefProcesses(row.workload, held[row.workload])


def _machine(machine: ShownMachine) -> Iterable[str]:
    cpus = UNKNOWN if machine.cpus is None else machine.cpus
    yield (
        f"  CPU {_cores(machine.cpu_cores)} of {cpus} cores, memory"
        f" {_mebibytes(machine.memory_used_bytes)} of {_mebibytes(machine.memory_bytes)}"
    )
    cpu, memory, io = _waits(machine.pressures)
    yield f"  waiting for CPU {cpu}, for memory {memory}, for I/O {io} of the last 10 s"
    if moved := machine.throughput:
        read, written = _per_second(moved.disk_read), _per_second(moved.disk_written)
        received, sent = _per_second(moved.network_received), _per_second(moved.network_sent)
        yield f"  disks read {read}, written {written}; network received {received}, sent {sent}"
    for one in machine.file_systems[:MOST_NAMED]:
        used, total = _mebibytes(one.used_bytes), _mebibytes(one.total_bytes)
        path, device = visible(one.path, limit=60), visible(one.device, limit=40)
        yield f"  {path} ({visible(one.kind, limit=20)} on {device}): {used} of {total} used"
    for each in machine.interfaces[:MOST_NAMED]:
        received, sent = _per_second(each.traffic.received), _per_second(each.traffic.sent)
        state = " (down)" if each.is_up is False else ""
        yield f"  {visible(each.name, limit=40)}{state}: received {received}, sent {sent}"


def _gaps(node: ShownNode) -> Iterable[str]:
    for fact in node.missing:
        what, why = visible(fact.what, limit=80), visible(fact.why, limit=160)
        yield f"  cannot be seen: {what}: {why}"


def _cells(row: ShownWorkload | ShownProcess | BriefProcesses) -> Sequence[str]:
    if isinstance(row, BriefProcesses):
        cores = _cores(sum(one.cpu_cores or 0.0 for one in row.several))
        memory = _mebibytes(sum(one.memory_bytes or 0 for one in row.several))
        name = f"{len(row.several)} programs that live for seconds"
        where = _indented(row.workload, 1)
        return (where + name, "processes", cores, memory, UNKNOWN, UNKNOWN, UNKNOWN, "")
    if isinstance(row, ShownProcess):
        name = " ".join(filter(None, (str(row.pid), row.command, row.script)))
        # Go calls its versions go1.26.8, which beside the runtime's own name says it twice.
        version = row.runtime_version and row.runtime_version.removeprefix("go")
        runtime = " ".join(filter(None, (row.runtime, version)))
        cores, memory = _cores(row.cpu_cores), _mebibytes(row.memory_bytes)
        unknown = (UNKNOWN, UNKNOWN, UNKNOWN)
        return (_indented(row.workload, 1) + name, "process", cores, memory, *unknown, runtime)
    return (
        _indented(row.path) + row.name,
        row.kind,
        ("~" if row.cpu_is_summed else "") + _cores(row.cpu_cores),
        _mebibytes(row.memory_bytes),
        *_waits(row.pressures),
        "",
    )


def _waits(pressures: ResourceWaits) -> list[str]:
    waits = [pressures.get(resource) for resource in RESOURCES]
    return [_percent(None if wait is None else wait.some_10s) for wait in waits]


def _indented(path: str, more: int = 0) -> str:
    return "  " * min(len(list(filter(None, path.split("/")))) + more, 8)


def _cores(cores: float | None) -> str:
    return UNKNOWN if cores is None else f"{round(cores * 1000)}m"


def _mebibytes(size: int | None) -> str:
    return UNKNOWN if size is None else f"{size >> 20}Mi"


def _per_second(moved: float | None) -> str:
    if moved is None:
        return UNKNOWN
    return f"{moved / 1024:.0f}Ki/s" if moved < 10 << 20 else f"{moved / (1 << 20):.0f}Mi/s"


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1f}%"
