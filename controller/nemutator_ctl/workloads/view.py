"""Workloads, and sums of namespaces, as tables."""

from collections.abc import Sequence

from nemutator_ctl.inventory_answers import (
    NamespaceAnswer,
    NamespaceRow,
    ShownTotals,
    ShownUse,
    WorkloadAnswer,
    WorkloadRow,
    cores,
    mebibytes,
    per_second,
)
from nemutator_ctl.tables import Column, table

LAYOUT = (
    Column("NAMESPACE", limit=40),
    Column("WORKLOAD", limit=60),
    Column("READY", right=True),
    Column("CPU REQUESTS", right=True),
    Column("NOW", right=True),
    Column("WORST", right=True),
    Column("WASTE", right=True),
    Column("MEMORY REQUESTS", right=True),
    Column("NOW", right=True),
    Column("WORST", right=True),
    Column("WASTE", right=True),
    Column("RESTARTS", right=True),
    Column("OOM", right=True),
)

WIDE = (
    Column("CPU USUAL", right=True),
    Column("CPU LIMITS", right=True),
    Column("MEMORY LIMITS", right=True),
    Column("THROTTLED", right=True),
    Column("RECEIVED", right=True),
    Column("SENT", right=True),
    Column("NODES", right=True),
    Column("STRATEGY", limit=20),
    Column("SCALED", limit=30),
    Column("MAY BE EVICTED", right=True),
)

SUMS = (
    Column("NAMESPACE", limit=60),
    Column("WORKLOADS", right=True),
    Column("PODS", right=True),
    Column("PENDING", right=True),
    Column("CPU REQUESTS", right=True),
    Column("NOW", right=True),
    Column("WASTE", right=True),
    Column("MEMORY REQUESTS", right=True),
    Column("NOW", right=True),
    Column("WASTE", right=True),
    Column("QUOTAS", limit=80),
)

NOTHING = "There are no such workloads.\n"


def view(answer: WorkloadAnswer, *, wide: bool) -> str:
    if not answer.items:
        return NOTHING
    rows = [_cells(each, wide=wide) for each in answer.items]
    if answer.totals.workloads > 1:
        rows.append(_totals(answer, wide=wide))
    text = table((*LAYOUT, *WIDE) if wide else LAYOUT, rows)
    if answer.remaining:
        text += f"{answer.remaining} more: --limit\n"
    return text


def namespaces_view(answer: NamespaceAnswer) -> str:
    if not answer.items:
        return NOTHING
    rows = [_namespace(each) for each in answer.items]
    totals = answer.totals
    if len(rows) > 1:
        rows.append(
            (f"all {len(rows)}", str(totals.workloads), *_sums(totals.sums, totals.waste), "")
        )
    return table(SUMS, rows)


def _cells(row: WorkloadRow, *, wide: bool) -> Sequence[str]:
    cells = (
        row.namespace,
        f"{row.kind}/{row.name}",
        _ready(row),
        cores(row.requests),
        cores(row.use.now),
        cores(row.use.worst),
        cores(row.waste),
        mebibytes(row.requests),
        mebibytes(row.use.now),
        mebibytes(row.use.worst),
        mebibytes(row.waste),
        str(row.restarts),
        str(row.oom_ended),
    )
    if not wide:
        return cells
    budget = row.disruption_budget
    return (
        *cells,
        cores(row.use.usual),
        cores(row.limits),
        mebibytes(row.limits),
        "-" if row.throttled is None else f"{row.throttled:.0%}",
        per_second(row.network.received),
        per_second(row.network.sent),
        str(row.nodes),
        row.strategy or "-",
        _scaled(row),
        "-" if budget is None else str(budget.disruptions_allowed),
    )


def _ready(row: WorkloadRow) -> str:
    replicas = row.replicas
    if row.processes is not None:
        return f"{row.processes} processes"
    return f"{replicas.ready}/{replicas.pods if replicas.wanted is None else replicas.wanted}"


def _scaled(row: WorkloadRow) -> str:
    words = []
    if row.autoscaler is not None:
        words.append(f"{row.autoscaler.min_replicas}-{row.autoscaler.max_replicas}")
    if row.vertical_autoscaler is not None:
        words.append(f"VPA {row.vertical_autoscaler}")
    return ", ".join(words) or "-"


def _totals(answer: WorkloadAnswer, *, wide: bool) -> Sequence[str]:
    totals, sums = answer.totals, answer.totals.sums
    cells = (
        "",
        f"all {totals.workloads}",
        f"{sums.pods.ready}/{sums.pods.count}",
        cores(sums.requested),
        cores(sums.used),
        "",
        cores(totals.waste),
        mebibytes(sums.requested),
        mebibytes(sums.used),
        "",
        mebibytes(totals.waste),
        str(sums.restarts),
        str(sums.oom_ended),
    )
    if not wide:
        return cells
    rest = [""] * (len(WIDE) - 3)
    return (*cells, "", cores(sums.limits), mebibytes(sums.limits), *rest)


def _namespace(row: NamespaceRow) -> tuple[str, ...]:
    quotas = "; ".join(
        f"{name}: " + ", ".join(f"{resource} {text}" for resource, text in amounts.items())
        for name, amounts in row.quotas.items()
    )
    return (row.name, str(row.workloads), *_sums(row.sums, row.waste), quotas or "-")


def _sums(sums: ShownTotals, waste: ShownUse) -> tuple[str, ...]:
    return (
        str(sums.pods.count),
        str(sums.pods.pending),
        cores(sums.requested),
        cores(sums.used),
        cores(waste),
        mebibytes(sums.requested),
        mebibytes(sums.used),
        mebibytes(waste),
    )
