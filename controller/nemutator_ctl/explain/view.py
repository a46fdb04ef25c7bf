"""The arithmetic of advice, in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, Listing, understood
from nemutator_ctl.explain.bars import Bar, bars
from nemutator_ctl.shown_amounts import bytes_of, millis
from nemutator_ctl.terminal_text import visible

ADVICE_PATH = "/api/v1/advice"

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ExplainedAmounts:
    cpu: str | None = None
    memory: str | None = None


@dataclass(frozen=True, slots=True)
class ExplainedUse:
    cpu_p50: Amount
    cpu_p95: Amount
    memory_p95: Amount
    memory_max: Amount
    throttled: Amount = 0.0
    kills: int = 0


@dataclass(frozen=True, slots=True)
class Explained:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    strategy: str
    state: str
    reason: str
    points: int
    span_s: Amount
    use: ExplainedUse
    requests_now: ExplainedAmounts
    requests: ExplainedAmounts
    limits: ExplainedAmounts
    lower: ExplainedAmounts = ExplainedAmounts()
    upper: ExplainedAmounts = ExplainedAmounts()
    remarks: tuple[str, ...] = ()


def decode(document: object) -> tuple[Explained, ...]:
    """The rows in *document*, or an `OperatorError` when it is not advice."""
    return understood(document, Listing[Explained], "advice").items


def chosen(rows: Sequence[Explained], workload: str, container: str | None) -> list[Explained]:
    return [
        row
        for row in rows
        if workload in (row.owner, f"{row.owner_kind}/{row.owner}")
        and container in (None, row.container)
    ]


def view(rows: Sequence[Explained]) -> str:
    return "\n".join("\n".join(_lines(row)) + "\n" for row in rows)


def _lines(row: Explained) -> Sequence[str]:
    use = row.use
    name = f"{row.namespace} {row.owner_kind}/{row.owner} {row.container}"
    stopped = f", stopped at its limit in {use.throttled:.0%} of the time" if use.throttled else ""
    killed = f", killed {use.kills} times" if use.kills else ""
    median, high = use.cpu_p50 * 1_000, use.cpu_p95 * 1_000
    lines = [
        f"{name}: {row.state}, by the strategy {row.strategy}",
        f"  seen      {row.points} points over {row.span_s / 3_600:.1f} h",
        f"  CPU       half of the time up to {median:.0f}m; the busiest replica's percentile {high:.0f}m{stopped}",
        _outcome(row.requests_now.cpu, row.requests.cpu, row.lower.cpu, row.upper.cpu),
        *_drawn(
            [
                Bar("used half of the time", median, f"{median:.0f}m"),
                Bar("used at most times", high, f"{high:.0f}m"),
                _bar("requested", row.requests_now.cpu, millis),
                _bar("recommended", row.requests.cpu, millis),
            ]
        ),
        f"  memory    largest peak {use.memory_max / _MIB:.0f}Mi{killed}",
        _outcome(row.requests_now.memory, row.requests.memory, row.lower.memory, row.upper.memory),
        *_drawn(
            [
                Bar("largest peak", float(use.memory_max), f"{use.memory_max / _MIB:.0f}Mi"),
                _bar("requested", row.requests_now.memory, bytes_of),
                _bar("recommended", row.requests.memory, bytes_of),
            ]
        ),
        f"  limits    CPU {row.limits.cpu or 'none'}, memory {row.limits.memory or 'none'}",
    ]
    if row.reason:
        lines.append(f"  because   {row.reason}")
    lines += (f"  remark    {one}" for one in row.remarks)
    return [visible(line, limit=400) for line in lines]


def _bar(title: str, text: str | None, read: Callable[[str | None], float | None]) -> Bar:
    return Bar(title, read(text), text or "")


def _drawn(found: Sequence[Bar]) -> list[str]:
    return [f"            {line}" for line in bars(found)]


def _outcome(now: str | None, wanted: str | None, lower: str | None, upper: str | None) -> str:
    if wanted is None:
        return "            no amount is recommended"
    bounds = f", may stay between {lower} and {upper}" if lower and upper else ""
    return f"            requests {now or 'nothing'}, recommended {wanted}{bounds}"
