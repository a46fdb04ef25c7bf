"""Clusters as a table: what each has, and their sums."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.inventory_answers import (
    NodeTotalsRow,
    WorkloadTotalsRow,
    cores,
    mebibytes,
)
from nemutator_ctl.tables import Column, table

LAYOUT = (
    Column("CLUSTER", limit=60),
    Column("SEEN", right=True),
    Column("NODES", right=True),
    Column("PODS", right=True),
    Column("WORKLOADS", right=True),
    Column("CPU ALLOCATABLE", right=True),
    Column("REQUESTED", right=True),
    Column("USED", right=True),
    Column("WASTE", right=True),
    Column("MEMORY ALLOCATABLE", right=True),
    Column("REQUESTED", right=True),
    Column("USED", right=True),
    Column("WASTE", right=True),
)

NONE = "No cluster has published anything: set brain.cluster_name in each, on one PostgreSQL.\n"


@dataclass(frozen=True, slots=True)
class ShownSummary:
    nodes: NodeTotalsRow
    workloads: WorkloadTotalsRow


@dataclass(frozen=True, slots=True)
class ClusterRow:
    name: str
    here: bool
    published_at: Amount
    stale: bool
    summary: ShownSummary | None


@dataclass(frozen=True, slots=True)
class ClusterTotalsRow:
    clusters: int
    stale: int
    nodes: NodeTotalsRow
    workloads: WorkloadTotalsRow


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    now: Amount
    totals: ClusterTotalsRow
    items: tuple[ClusterRow, ...]


def cluster_answer(document: object) -> ClusterAnswer:
    return understood(document, ClusterAnswer, "a list of clusters")


def view(answer: ClusterAnswer) -> str:
    if not answer.items:
        return NONE
    rows = [_cells(each, answer.now) for each in answer.items]
    totals = answer.totals
    stale = f"{totals.stale} stale" if totals.stale else ""
    rows.append((f"all {totals.clusters}", stale, *_sums(totals.nodes, totals.workloads)))
    return table(LAYOUT, rows)


def _cells(row: ClusterRow, now: Amount) -> Sequence[str]:
    # Of tables that cannot be read nobody knows when they were written.
    ago = f"{max(0.0, now - row.published_at):.0f}s" if row.published_at else "-"
    seen = f"{ago}{' stale' if row.stale else ''}"
    name = f"{row.name} (here)" if row.here else row.name
    if row.summary is None:
        # Another version has written it.
        return (name, f"{seen} unreadable", *("-" for _ in LAYOUT[2:]))
    return (name, seen, *_sums(row.summary.nodes, row.summary.workloads))


def _sums(nodes: NodeTotalsRow, workloads: WorkloadTotalsRow) -> Sequence[str]:
    waste = workloads.waste
    return (
        str(nodes.nodes),
        str(nodes.pods),
        str(workloads.workloads),
        cores(nodes.allocatable),
        cores(nodes.requested),
        cores(nodes.used),
        cores(waste),
        mebibytes(nodes.allocatable),
        mebibytes(nodes.requested),
        mebibytes(nodes.used),
        mebibytes(waste),
    )
