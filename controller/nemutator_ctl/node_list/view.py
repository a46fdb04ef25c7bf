"""Nodes as a table: the three lines of each, and their sums."""

from collections.abc import Sequence

from nemutator_ctl.inventory_answers import NodeAnswer, NodeRow, ShownUse, cores, mebibytes
from nemutator_ctl.tables import Column, table

LAYOUT = (
    Column("NAME", limit=60),
    Column("STATE", limit=40),
    Column("SEEN", right=True),
    Column("PODS", right=True),
    Column("CPU ALLOCATABLE", right=True),
    Column("REQUESTED", right=True),
    Column("USED", right=True),
    Column("MEMORY ALLOCATABLE", right=True),
    Column("REQUESTED", right=True),
    Column("USED", right=True),
)

WIDE = (
    Column("CPU LIMITS", right=True),
    Column("MEMORY LIMITS", right=True),
    Column("RAW CPU", right=True),
    Column("CPU WASTE", right=True),
    Column("MEMORY WASTE", right=True),
    Column("CONDITIONS", limit=60),
    Column("TAINTS", limit=80),
)

NO_NODE = "No node is known yet.\n"
NO_SUCH_NODE = "There are no such nodes.\n"


def view(answer: NodeAnswer, *, wide: bool, chosen: bool = False) -> str:
    """*chosen*: only some nodes were asked for."""
    if not answer.items:
        return NO_SUCH_NODE if chosen else NO_NODE
    rows = [_cells(each, wide=wide) for each in answer.items]
    if answer.totals.nodes > 1:
        rows.append(_totals(answer, wide=wide))
    return table((*LAYOUT, *WIDE) if wide else LAYOUT, rows)


def _cells(row: NodeRow, *, wide: bool) -> Sequence[str]:
    cells = (
        row.name,
        _state(row),
        "-" if row.age_s is None else f"{row.age_s:.0f}s",
        _pods(row.pods.count, row.most_pods),
        *_lines(row.allocatable, row.requested, row.used),
    )
    if not wide:
        return cells
    # All but `Ready` should be false.
    wrong = [
        each.type
        for each in row.conditions
        if each.status != ("True" if each.type == "Ready" else "False")
    ]
    return (
        *cells,
        cores(row.limits),
        mebibytes(row.limits),
        "-" if row.raw_cpu_cores is None else f"{round(row.raw_cpu_cores * 1000)}m",
        cores(row.waste),
        mebibytes(row.waste),
        ",".join(wrong) or "-",
        ",".join(row.taints) or "-",
    )


def _totals(answer: NodeAnswer, *, wide: bool) -> Sequence[str]:
    totals = answer.totals
    cells = (
        f"all {totals.nodes}",
        f"{totals.stale} stale" if totals.stale else "-",
        "",
        str(totals.pods),
        *_lines(totals.allocatable, totals.requested, totals.used),
    )
    if not wide:
        return cells
    waste = cores(totals.waste), mebibytes(totals.waste)
    return (*cells, cores(totals.limits), mebibytes(totals.limits), "", *waste, "", "")


def _lines(allocatable: ShownUse, requested: ShownUse, used: ShownUse) -> Sequence[str]:
    return (
        cores(allocatable),
        _of(cores(requested), requested.cpu_cores, allocatable.cpu_cores),
        _of(cores(used), used.cpu_cores, allocatable.cpu_cores),
        mebibytes(allocatable),
        _of(mebibytes(requested), requested.memory_bytes, allocatable.memory_bytes),
        _of(mebibytes(used), used.memory_bytes, allocatable.memory_bytes),
    )


def _of(text: str, part: float | None, whole: float | None) -> str:
    return f"{text} ({part / whole:.0%})" if part is not None and whole else text


def _pods(count: int, most: int | None) -> str:
    return str(count) if most is None else f"{count}/{most}"


def _state(row: NodeRow) -> str:
    words = [] if row.ready is None else ["Ready" if row.ready else "NotReady"]
    if row.unschedulable:
        words.append("SchedulingDisabled")
    if row.age_s is None:
        words.append("unreported")
    elif row.stale:
        words.append("stale")
    return ",".join(words) or "live"
