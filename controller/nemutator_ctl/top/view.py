"""Workloads by what they use now, as a table."""

from collections.abc import Sequence

from nemutator_ctl.inventory_answers import (
    WorkloadAnswer,
    WorkloadRow,
    cores,
    mebibytes,
    per_second,
)
from nemutator_ctl.tables import Column, table
from nemutator_ctl.workloads.view import NOTHING

LAYOUT = (
    Column("NAMESPACE", limit=40),
    Column("WORKLOAD", limit=60),
    Column("PODS", right=True),
    Column("CPU", right=True),
    Column("MEMORY", right=True),
    Column("CPU WASTE", right=True),
    Column("MEMORY WASTE", right=True),
    Column("RECEIVED", right=True),
    Column("SENT", right=True),
)

WIDE = (
    Column("CPU REQUESTS", right=True),
    Column("MEMORY REQUESTS", right=True),
    Column("THROTTLED", right=True),
    Column("RESTARTS", right=True),
    Column("NODES", right=True),
)


def view(answer: WorkloadAnswer, *, wide: bool) -> str:
    if not answer.items:
        return NOTHING
    rows = [_cells(each, wide=wide) for each in answer.items]
    return table((*LAYOUT, *WIDE) if wide else LAYOUT, rows)


def _cells(row: WorkloadRow, *, wide: bool) -> Sequence[str]:
    cells = (
        row.namespace,
        f"{row.kind}/{row.name}",
        str(row.replicas.pods) if row.processes is None else "-",
        cores(row.use.now),
        mebibytes(row.use.now),
        cores(row.waste),
        mebibytes(row.waste),
        per_second(row.network.received),
        per_second(row.network.sent),
    )
    if not wide:
        return cells
    return (
        *cells,
        cores(row.requests),
        mebibytes(row.requests),
        "-" if row.throttled is None else f"{row.throttled:.0%}",
        str(row.restarts),
        str(row.nodes),
    )
