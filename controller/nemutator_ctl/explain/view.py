"""The arithmetic of advice, in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from nemutator_ctl.answers import Amount, Listing, understood
from nemutator_ctl.explain.bars import Bar, bars
from nemutator_ctl.explain.histogram import Drawing, Mark, histogram, of_peaks
from nemutator_ctl.shown_amounts import bytes_of, memory_text, millis, span
from nemutator_ctl.terminal_text import visible

ADVICE_PATH = "/api/v1/advice"
HISTOGRAMS_PATH = "/api/v1/advice/histograms"

INDENT = 12
MOST_NAMED = 8
NO_CONTAINER = "-"
"""Of a program or a unit."""

DRAWING = Drawing()

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
    memory_margin: Amount = 0.0
    """0: the brain is older, and does not say."""


@dataclass(frozen=True, slots=True)
class ExplainedHour:
    """What a policy that follows its CPU hourly is told."""

    strategy: str
    cpu: str | None
    reason: str


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
    hourly: ExplainedHour | None = None


@dataclass(frozen=True, slots=True)
class UsedBefore:
    """How often it used how much."""

    namespace: str
    owner_kind: str
    owner: str
    container: str
    cpu: tuple[tuple[Amount, Amount, Amount], ...] = ()
    memory_peaks: tuple[Amount, ...] = ()


Container = tuple[str, str, str, str]


def decode_histograms(document: object) -> Mapping[Container, UsedBefore]:
    items = understood(document, Listing[UsedBefore], "histograms of use").items
    return {(one.namespace, one.owner_kind, one.owner, one.container): one for one in items}


def decode(document: object) -> tuple[Explained, ...]:
    """The rows in *document*, or an `OperatorError` when it is not advice."""
    return understood(document, Listing[Explained], "advice").items


def chosen(rows: Sequence[Explained], workload: str, container: str | None) -> list[Explained]:
    return [row for row in rows if _is_of(workload, row) and container in (None, row.container)]


def _is_of(workload: str, row: Explained) -> bool:
    """As the controller has it, whose own function would bring numpy into the command."""
    kind, _, name = workload.partition("/")
    return workload == row.owner or (name, kind.lower()) == (row.owner, row.owner_kind.lower())


def nothing_of(workload: str, container: str | None, others: Sequence[Explained]) -> str:
    """Why there is nothing to explain; *others*: the rows of that workload."""
    if not others:
        return f"nothing was reported of {workload[:200]!r}"
    known = sorted({row.container for row in others})
    if known == [NO_CONTAINER]:
        return visible(
            f"{workload} has no containers: leave out {str(container)[:80]!r}", limit=400
        )
    shown = ", ".join(known[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
    return visible(
        f"{workload} has no container {str(container)[:80]!r} of which anything was reported: it has {shown}",
        limit=400,
    )


def view(
    rows: Sequence[Explained],
    used: Mapping[Container, UsedBefore] = MappingProxyType({}),
    drawing: Drawing = DRAWING,
) -> str:
    texts = ("\n".join(_lines(row, used.get(_key(row)), drawing)) for row in rows)
    return "\n".join(f"{text}\n" for text in texts)


def _key(row: Explained) -> Container:
    return row.namespace, row.owner_kind, row.owner, row.container


def _lines(row: Explained, used: UsedBefore | None, drawing: Drawing) -> Sequence[str]:
    use = row.use
    name = f"{row.namespace} {row.owner_kind}/{row.owner} {row.container}"
    stopped = f", stopped at its limit in {use.throttled:.0%} of the time" if use.throttled else ""
    times = "once" if use.kills == 1 else f"{use.kills} times"
    killed = f", killed {times}" if use.kills else ""
    median, high = use.cpu_p50 * 1_000, use.cpu_p95 * 1_000
    cpu, memory = used.cpu if used else (), used.memory_peaks if used else ()
    now = memory_text(row.requests_now.memory)
    told = use.memory_margin and row.requests.memory is not None
    margin = f", times {use.memory_margin:.2f} after {span(row.span_s)} of data" if told else ""
    lines = [
        f"{name}: {row.state}, by the strategy {row.strategy}",
        f"  seen      {row.points} points over {span(row.span_s)}",
        f"  CPU       half of the time up to {median:.0f}m; the busiest replica's percentile {high:.0f}m{stopped}",
        _outcome(row.requests_now.cpu, row.requests.cpu, row.lower.cpu, row.upper.cpu),
        *_drawn(
            [
                Bar("used half of the time", median, f"{median:.0f}m"),
                Bar("used at most times", high, f"{high:.0f}m"),
                _bar("requested", row.requests_now.cpu, millis),
                _bar("recommended", row.requests.cpu, millis),
            ],
            drawing,
        ),
        *_titled(_cpu_histogram(row, cpu, drawing), "how much of the time it used how much CPU"),
        f"  memory    largest peak {use.memory_max / _MIB:.0f}Mi{killed}{margin}",
        _outcome(now, row.requests.memory, row.lower.memory, row.upper.memory),
        *_drawn(
            [
                Bar("largest peak", float(use.memory_max), f"{use.memory_max / _MIB:.0f}Mi"),
                Bar("requested", bytes_of(row.requests_now.memory), now or ""),
                _bar("recommended", row.requests.memory, bytes_of),
            ],
            drawing,
        ),
        *_titled(
            _memory_histogram(row, memory, drawing), "on how many days its peak was how large"
        ),
        f"  limits    CPU {row.limits.cpu or 'none'}, memory {row.limits.memory or 'none'}",
    ]
    if row.reason:
        lines.append(f"  because   {row.reason}")
    if row.hourly is not None:
        lines.append(f"  hourly    {_of_hour(row.hourly)}")
    lines += (f"  remark    {one}" for one in row.remarks)
    return [visible(line, limit=400) for line in lines]


def _of_hour(hour: ExplainedHour) -> str:
    if hour.cpu is None:
        return f"CPU by the advice above, and not by {hour.strategy}: {hour.reason}"
    return f"CPU {hour.cpu} by {hour.strategy}, {hour.reason}"


def _cpu_histogram(
    row: Explained, cpu: Sequence[tuple[float, float, float]], drawing: Drawing
) -> list[str]:
    buckets = [(low * 1_000, high * 1_000, share) for low, high, share in cpu]
    most = max((high for _, high, _ in buckets), default=None)
    p50, p95 = row.use.cpu_p50 * 1_000, row.use.cpu_p95 * 1_000
    marks = [
        Mark(f"p50 {p50:.0f}m", p50),
        Mark(f"p95 {p95:.0f}m", p95),
        Mark(f"max {most or 0:.0f}m", most),
        *_marks(row, "cpu", millis),
    ]
    return histogram(buckets, marks, _inside(drawing))


def _memory_histogram(row: Explained, peaks: Sequence[float], drawing: Drawing) -> list[str]:
    use = row.use
    marks = [
        Mark(f"p95 {use.memory_p95 / _MIB:.0f}Mi", use.memory_p95),
        Mark(f"max {use.memory_max / _MIB:.0f}Mi", use.memory_max),
        *_marks(row, "memory", bytes_of),
    ]
    return histogram(of_peaks(peaks), marks, _inside(drawing))


def _marks(
    row: Explained, resource: str, read: Callable[[str | None], float | None]
) -> Sequence[Mark]:
    named = (
        ("recommended", row.requests),
        ("recommended limit", row.limits),
        ("requested", row.requests_now),
    )
    texts = ((title, getattr(amounts, resource)) for title, amounts in named)
    shown = memory_text if resource == "memory" else str
    return [Mark(f"{title} {shown(text)}", read(text)) for title, text in texts if text is not None]


def _inside(drawing: Drawing) -> Drawing:
    return replace(drawing, columns=drawing.columns - INDENT)


def _titled(lines: Sequence[str], title: str) -> list[str]:
    return [f"{' ' * INDENT}{line}" for line in (f"{title}:", *lines)] if lines else []


def _bar(title: str, text: str | None, read: Callable[[str | None], float | None]) -> Bar:
    return Bar(title, read(text), text or "")


def _drawn(found: Sequence[Bar], drawing: Drawing) -> list[str]:
    return [f"{' ' * INDENT}{line}" for line in bars(found, unicode=drawing.unicode)]


def _outcome(now: str | None, wanted: str | None, lower: str | None, upper: str | None) -> str:
    if wanted is None:
        return f"            requests {now or 'nothing'}, and no amount is recommended"
    bounds = f", may stay between {lower} and {upper}" if lower and upper else ""
    if lower and not upper:
        bounds = f", should not be below {lower}"
    return f"            requests {now or 'nothing'}, recommended {wanted}{bounds}"
