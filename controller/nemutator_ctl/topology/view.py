"""Nodes as a table for people: first what the machine does, then what in it does it."""

from collections.abc import Iterable, Sequence

from nemutator_ctl.nodes import Machine, Node, Row
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

UNKNOWN = "-"


def view(nodes: Sequence[Node]) -> str:
    return "\n".join(map(_node, nodes)) or "No node has reported yet.\n"


def _node(node: Node) -> str:
    name, kernel = visible(node.name, limit=64), visible(node.machine.kernel, limit=64)
    seen = f"seen {node.age_s:.0f} s ago" + (", stale" if node.stale else "")
    head = [f"{name}: kernel {kernel}, {seen}", *_machine(node.machine), *_unseen(node)]
    return "\n".join(head) + "\n" + table(LAYOUT, list(map(_cells, node.rows)))


def _machine(machine: Machine) -> Iterable[str]:
    cpus = UNKNOWN if machine.cpus is None else machine.cpus
    yield (
        f"  CPU {_cores(machine.cpu_cores)} of {cpus} cores, memory"
        f" {_mebibytes(machine.memory_used_bytes)} of {_mebibytes(machine.memory_bytes)}"
    )
    cpu, memory, io = map(_percent, machine.pressures)
    yield f"  waiting for CPU {cpu}, for memory {memory}, for I/O {io} of the last 10 s"


def _unseen(node: Node) -> Iterable[str]:
    for fact in node.missing:
        what, why = visible(fact.what, limit=80), visible(fact.why, limit=160)
        yield f"  cannot be seen: {what}: {why}"


def _cells(row: Row) -> Sequence[str]:
    depth = len(list(filter(None, row.path.split("/")))) + (row.kind == "process")
    return (
        "  " * min(depth, 8) + row.name,
        row.kind,
        _cores(row.cpu_cores),
        _mebibytes(row.memory_bytes),
        *map(_percent, row.pressures),
        row.runtime,
    )


def _cores(cores: float | None) -> str:
    return UNKNOWN if cores is None else f"{round(cores * 1000)}m"


def _mebibytes(size: int | None) -> str:
    return UNKNOWN if size is None else f"{size >> 20}Mi"


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1f}%"
