"""Advice as typed values, and as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, Listing, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

ADVICE_PATH = "/api/v1/advice"

LAYOUT = (
    Column("NAMESPACE", limit=40),
    Column("OWNER", limit=50),
    Column("CONTAINER", limit=30),
    Column("POINTS", right=True),
    Column("SPAN", right=True),
    Column("CPU REQUEST", right=True),
    Column("MEMORY", right=True),
    Column("", limit=80),
)

NOTHING = (
    "Nothing to advise on yet: no agent has reported what a container used.\n"
    "`nemutator topology` shows what runs; a first summary takes a quarter of a minute.\n"
)


@dataclass(frozen=True, slots=True)
class ShownAmounts:
    cpu: str | None
    memory: str | None


@dataclass(frozen=True, slots=True)
class AdviceRow:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    points: int
    span_s: Amount
    requests_now: ShownAmounts
    requests: ShownAmounts
    state: str
    reason: str


def decode(document: object) -> tuple[AdviceRow, ...]:
    """The rows in *document*, or an `OperatorError` when it is not advice."""
    return understood(document, Listing[AdviceRow], "advice").items


def view(rows: Sequence[AdviceRow], *, namespace: str | None = None) -> str:
    """*namespace* is the one that was asked about; None means all."""
    if not rows and namespace:
        where = visible(f"No agent has reported what a container of {namespace} used.", limit=200)
        return f"{where}\n`nemutator advise` shows all that have been reported.\n"
    return table(LAYOUT, [_cells(row) for row in rows]) if rows else NOTHING


def _cells(row: AdviceRow) -> Sequence[str]:
    return (
        row.namespace,
        f"{row.owner_kind}/{row.owner}",
        row.container,
        str(row.points),
        span(row.span_s),
        _change(row.requests_now.cpu, row.requests.cpu),
        _change(row.requests_now.memory, row.requests.memory),
        f"{row.state}: {row.reason}" if row.state == "provisional" else row.reason,
    )


def span(seconds: float) -> str:
    """Short, as kubectl writes an age: two of a unit before the next larger one is used."""
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)}{unit}"
    return f"{int(seconds)}s"


def _change(now: str | None, recommended: str | None) -> str:
    if recommended is None:
        return "-"
    return recommended if now is None else f"{now} → {recommended}"
