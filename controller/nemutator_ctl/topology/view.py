"""Nodes as a table for people."""

from collections.abc import Sequence

from nemutator_ctl.nodes import Node, Row
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


def view(nodes: Sequence[Node]) -> str:
    return "\n".join(map(_node, nodes)) or "No node has reported yet.\n"


def _node(node: Node) -> str:
    name, kernel = visible(node.name, limit=64), visible(node.kernel, limit=64)
    seen = f"seen {node.age_s:.0f} s ago" + (", stale" if node.stale else "")
    return f"{name}: kernel {kernel}, {seen}\n" + table(LAYOUT, list(map(_cells, node.rows)))


def _cells(row: Row) -> Sequence[str]:
    depth = len(list(filter(None, row.path.split("/")))) + (row.kind == "process")
    return (
        "  " * min(depth, 8) + row.name,
        row.kind,
        "-" if row.cpu_cores is None else f"{round(row.cpu_cores * 1000)}m",
        "-" if row.memory_bytes is None else f"{row.memory_bytes >> 20}Mi",
        *("-" if some is None else f"{some:.1f}%" for some in row.pressures),
        row.runtime,
    )
