"""Advice as typed values, and as a table for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import not_understood
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
class Row:
    namespace: str
    owner: str
    container: str
    points: int
    span_s: float
    cpu_now: str | None
    cpu: str | None
    memory_now: str | None
    memory: str | None
    state: str
    reason: str


def decode(document: object) -> tuple[Row, ...]:
    """The rows in *document*, or an `OperatorError` when it is no advice."""
    try:
        return tuple(_row(_mapping(item)) for item in _list(_mapping(document)["items"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise not_understood(f"no advice ({type(error).__name__})") from error


def view(rows: Sequence[Row], *, namespace: str | None = None) -> str:
    """*namespace*: the one that they were asked of, None for all."""
    if not rows and namespace:
        where = visible(f"No agent has reported what a container of {namespace} used.", limit=200)
        return f"{where}\n`nemutator advise` shows those that there are.\n"
    return table(LAYOUT, [_cells(row) for row in rows]) if rows else NOTHING


def _cells(row: Row) -> Sequence[str]:
    return (
        row.namespace,
        row.owner,
        row.container,
        str(row.points),
        span(row.span_s),
        _change(row.cpu_now, row.cpu),
        _change(row.memory_now, row.memory),
        f"{row.state}: {row.reason}" if row.state == "provisional" else row.reason,
    )


def span(seconds: float) -> str:
    """Short, as kubectl says an age: two of the same unit before the next one begins."""
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)}{unit}"
    return f"{int(seconds)}s"


def _change(now: str | None, advised: str | None) -> str:
    if advised is None:
        return "-"
    return advised if now is None else f"{now} → {advised}"


def _row(item: Mapping[str, object]) -> Row:
    now, requests = _mapping(item["requests_now"]), _mapping(item["requests"])
    return Row(
        namespace=str(item["namespace"]),
        owner=f"{item['owner_kind']}/{item['owner']}",
        container=str(item["container"]),
        points=int(_number(item["points"])),
        span_s=_number(item["span_s"]),
        cpu_now=_text(now["cpu"]),
        cpu=_text(requests["cpu"]),
        memory_now=_text(now["memory"]),
        memory=_text(requests["memory"]),
        state=str(item["state"]),
        reason=str(item["reason"]),
    )


def _mapping(raw: object) -> Mapping[str, object]:
    if not isinstance(raw, Mapping):
        raise TypeError
    return raw


def _list(raw: object) -> Sequence[object]:
    if not isinstance(raw, list):
        raise TypeError
    return raw


def _number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise TypeError
    return float(raw)


def _text(raw: object) -> str | None:
    return None if raw is None else str(raw)
