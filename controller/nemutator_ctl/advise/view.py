"""Advice as typed values, and as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, Listing, understood
from nemutator_ctl.shown_amounts import bytes_of, memory_text, millis, span
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

ADVICE_PATH = "/api/v1/advice"

LAYOUT = (
    Column("NAMESPACE", limit=40),
    Column("OWNER", limit=50),
    Column("CONTAINER", limit=30),
    Column("SPAN", right=True),
    Column("CPU REQUEST", right=True),
    Column("MEMORY", right=True),
    Column("WASTE", limit=40),
    Column("RISK", limit=80),
    Column("SURE", right=True),
    Column("", limit=80),
)

WIDE = (
    Column("PODS", right=True),
    Column("POINTS", right=True),
    Column("CPU FROM", right=True),
    Column("TO", right=True),
    Column("MEMORY FROM", right=True),
    Column("TO", right=True),
)

GIB_OF_A_CORE = 8
"""What a core costs in GiB, roughly, everywhere: rows are sorted by both wastes as one."""

THROTTLED = 0.05
WAITS = 0.1
MOST_REMARKS = 10
_GIB = 1 << 30

NOTHING = (
    "Nothing to advise on yet: no agent has reported what a container used.\n"
    "`nemutator topology` shows what runs; a first summary takes a quarter of a minute.\n"
)
NOTHING_RECORDED = (
    "Nothing to advise on: no container's CPU and memory are recorded there for these days.\n"
)


@dataclass(frozen=True, slots=True)
class ShownAmounts:
    cpu: str | None
    memory: str | None


NO_AMOUNTS = ShownAmounts(None, None)


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    throttled: Amount = 0.0
    cpu_waiting: Amount = 0.0
    memory_waiting: Amount = 0.0
    kills: int = 0


@dataclass(frozen=True, slots=True)
class ShownConfidence:
    cpu: Amount = 0.0
    memory: Amount = 0.0


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
    lower: ShownAmounts = NO_AMOUNTS
    upper: ShownAmounts = NO_AMOUNTS
    use: ShownEvidence = ShownEvidence()
    confidence: ShownConfidence = ShownConfidence()
    pods: int = 1
    limits: ShownAmounts = NO_AMOUNTS
    remarks: tuple[str, ...] = ()


def decode(document: object) -> tuple[AdviceRow, ...]:
    """The rows in *document*, or an `OperatorError` when it is not advice."""
    return understood(document, Listing[AdviceRow], "advice").items


def view(
    rows: Sequence[AdviceRow],
    *,
    namespace: str | None = None,
    wide: bool = False,
    recorded: bool = False,
) -> str:
    """The greatest waste first. *namespace* is the one that was asked about; None means all. *recorded*: by others than agents."""
    if not rows and recorded:
        return NOTHING_RECORDED
    if not rows and namespace:
        where = visible(f"No agent has reported what a container of {namespace} used.", limit=200)
        return f"{where}\n`nemutator advise` shows all that have been reported.\n"
    if not rows:
        return NOTHING
    ordered = sorted(rows, key=_waste, reverse=True)
    layout = (*LAYOUT[:-1], *WIDE, LAYOUT[-1]) if wide else LAYOUT
    remarks = [
        visible(f"{row.namespace} {row.owner_kind}/{row.owner} {row.container}: {one}", limit=400)
        for row in ordered
        for one in row.remarks
    ]
    more = len(remarks) - MOST_REMARKS
    said = remarks[:MOST_REMARKS] + (
        [f"… and {more} more: `nemutator explain`"] if more > 0 else []
    )
    shown = table(layout, [_cells(row, wide=wide) for row in ordered])
    return shown + ("\n" + "\n".join(said) + "\n" if said else "")


def _cells(row: AdviceRow, *, wide: bool) -> Sequence[str]:
    bounds = (row.lower.cpu, row.upper.cpu, row.lower.memory, row.upper.memory)
    more = (str(row.pods), str(row.points), *(bound or "-" for bound in bounds)) if wide else ()
    valued = row.requests.cpu is not None or row.requests.memory is not None
    least = min(row.confidence.cpu, row.confidence.memory or row.confidence.cpu)
    return (
        row.namespace,
        f"{row.owner_kind}/{row.owner}",
        row.container,
        span(row.span_s),
        _change(row.requests_now.cpu, row.requests.cpu),
        _change(memory_text(row.requests_now.memory), memory_text(row.requests.memory)),
        _wasted(row),
        _risk(row),
        # Other strategies do not say how sure they are.
        f"{least:.0%}" if valued and (least or row.state != "firm") else "-",
        *more,
        f"{row.state}: {row.reason}" if row.state == "provisional" else row.reason,
    )


def _change(now: str | None, recommended: str | None) -> str:
    if recommended is None:
        return "-"
    return recommended if now is None else f"{now} → {recommended}"


def _over(now: float | None, recommended: float | None) -> float:
    """What is requested beyond what is advised."""
    return 0.0 if now is None or recommended is None else max(0.0, now - recommended)


def wasted(row: AdviceRow) -> tuple[float, float]:
    """Thousandths of a core and bytes, of all its pods."""
    cpu = _over(millis(row.requests_now.cpu), millis(row.requests.cpu))
    memory = _over(bytes_of(row.requests_now.memory), bytes_of(row.requests.memory))
    return cpu * row.pods, memory * row.pods


def _waste(row: AdviceRow) -> float:
    cpu, memory = wasted(row)
    return cpu / 1_000 + memory / _GIB / GIB_OF_A_CORE


def _wasted(row: AdviceRow) -> str:
    """Of all its pods."""
    cpu, memory = wasted(row)
    parts = (f"{cpu:.0f}m" if cpu else "", f"{memory / (1 << 20):.0f}Mi" if memory else "")
    return " ".join(part for part in parts if part) or "-"


def _risk(row: AdviceRow) -> str:
    cpu, least_cpu = millis(row.requests_now.cpu), millis(row.lower.cpu)
    memory, least = bytes_of(row.requests_now.memory), bytes_of(row.lower.memory)
    parts = (
        f"killed {row.use.kills}x" if row.use.kills else "",
        f"throttled {row.use.throttled:.0%}" if row.use.throttled >= THROTTLED else "",
        f"waits for CPU {row.use.cpu_waiting:.0%}" if row.use.cpu_waiting >= WAITS else "",
        f"waits for memory {row.use.memory_waiting:.0%}" if row.use.memory_waiting >= WAITS else "",
        "little CPU" if cpu is not None and least_cpu is not None and cpu < least_cpu else "",
        "little memory" if memory is not None and least is not None and memory < least else "",
    )
    return ", ".join(part for part in parts if part) or "-"
