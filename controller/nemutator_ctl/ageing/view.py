"""Findings as a table for people, and one of them with its numbers and stack."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table
from nemutator_ctl.terminal_text import visible

AGEING_PATH = "/api/v1/ageing"

LAYOUT = (
    Column("VERDICT", limit=24),
    Column("WORKLOAD", limit=60),
    Column("RATE", right=True),
    Column("WHERE", limit=70),
    Column("SINCE", limit=20),
    Column("", limit=80),
)

NOTHING = (
    "No process was looked at yet: agents read Go programs unasked once they are old enough\n"
    "(the agent's settings of windows say how old, and how often).\n"
)

MB = 1e6

MOST_BUSY = 8


@dataclass(frozen=True, slots=True)
class ListedWorkload:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    program: str


@dataclass(frozen=True, slots=True)
class ListedSite:
    function: str
    file: str
    line: int
    verdict: str
    rate_bytes_per_min: Amount
    in_use_bytes: Amount
    kept_share: Amount | None
    explained_share: Amount


@dataclass(frozen=True, slots=True)
class ListedFunction:
    function: str
    file: str
    line: int
    share_before: Amount
    share_now: Amount


@dataclass(frozen=True, slots=True)
class ListedReplica:
    node: str
    pid: int
    age_s: Amount
    level_bytes: Amount
    rate_bytes_per_min: Amount


@dataclass(frozen=True, slots=True)
class ListedBusy:
    function: str
    file: str
    line: int
    share: Amount


@dataclass(frozen=True, slots=True)
class ListedBusiest:
    """Where CPU time went, in windows of all processes together."""

    seconds: Amount
    samples: int
    functions: tuple[ListedBusy, ...]


@dataclass(frozen=True, slots=True)
class ListedFinding:
    id: str
    workload: ListedWorkload
    image: str
    verdict: str
    state: str
    measure: str
    reason: str
    rate: str
    sentence: str
    p: Amount
    readings: int
    span_s: Amount
    looked_at: Moment
    first_seen: Moment | None
    first_level: Amount
    last_level: Amount
    sites: tuple[ListedSite, ...]
    functions: tuple[ListedFunction, ...]
    replicas: tuple[ListedReplica, ...]
    replicas_say: str
    stack: tuple[tuple[str, str, int], ...]
    load: str | None = None
    busiest: ListedBusiest | None = None


@dataclass(frozen=True, slots=True)
class ListedPause:
    """A node whose Go programs are not looked at now."""

    node: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ListedPauses:
    paused: tuple[ListedPause, ...] = ()


def decode_pauses(document: object) -> tuple[ListedPause, ...]:
    return understood(document, ListedPauses, "a list of what ages").paused


def decode(document: object) -> tuple[ListedFinding, ...]:
    """The findings in *document*, or an `OperatorError` when it is no list of them."""
    return understood(document, Listing[ListedFinding], "a list of what ages").items


def decode_one(document: object) -> ListedFinding:
    return understood(document, ListedFinding, "a verdict on a workload")


MOST_OTHERS = 5


def chosen(findings: Sequence[ListedFinding], name: str) -> ListedFinding | None:
    """The first that *name* is an id, program or owner of."""
    return next(iter(_called(findings, name)), None)


def others(findings: Sequence[ListedFinding], name: str) -> str:
    """Which else are called so, for whoever meant another one."""
    rest = [f"'{_title(one)}'" for one in _called(findings, name)[1:]]
    if not rest:
        return ""
    more = f" and {len(rest) - MOST_OTHERS} more" if len(rest) > MOST_OTHERS else ""
    called = f"also called {name}: {', '.join(rest[:MOST_OTHERS])}{more}"
    return f"\n{visible(called, limit=500)}\n"


def _called(findings: Sequence[ListedFinding], name: str) -> list[ListedFinding]:
    return [
        one
        for one in findings
        if name in (one.id, one.workload.program, one.workload.owner, _title(one))
    ]


def overview(findings: Sequence[ListedFinding], pauses: Sequence[ListedPause] = ()) -> str:
    shown = table(LAYOUT, [_cells(one) for one in findings]) if findings else NOTHING
    return shown + "".join(f"{visible(one, limit=300)}\n" for one in _paused(pauses))


def _paused(pauses: Sequence[ListedPause]) -> Iterator[str]:
    for one in pauses:
        yield f"Unasked looks wait on {one.node}: {one.why}"
        yield f"  remedy: {one.remedy}"


def _cells(one: ListedFinding) -> Sequence[str]:
    return (
        _verdict(one),
        _title(one),
        one.rate or "-",
        _where(one),
        moment(one.first_seen) if one.first_seen is not None else "-",
        one.reason,
    )


def _verdict(one: ListedFinding) -> str:
    is_provisional = one.state == "provisional" and one.rate
    return f"{one.verdict} (provisional)" if is_provisional else one.verdict


def _title(one: ListedFinding) -> str:
    workload = one.workload
    if workload.container == "-":
        return f"{workload.program} in {workload.owner}"
    return f"{workload.namespace}/{workload.owner} {workload.program}"


def _where(one: ListedFinding) -> str:
    first = one.sites[0] if one.sites else one.functions[0] if one.functions else None
    return "-" if first is None else _place(first.function, first.file, first.line)


def _place(function: str, file: str, line: int) -> str:
    return f"{function} {file.rpartition('/')[2]}:{line}" if file else function


def details(one: ListedFinding) -> str:
    return "".join(f"{visible(line, limit=300)}\n" for line in _lines(one))


def _levels(one: ListedFinding) -> str:
    if one.measure in ("heap", "memory"):
        return f"from {one.first_level / MB:.1f} to {one.last_level / MB:.1f} MB"
    if one.measure == "cpu":
        return f"from {one.first_level:.1f} to {one.last_level:.1f} % of CPU time"
    return f"from {one.first_level:.0f} to {one.last_level:.0f} {one.measure}"


def _lines(one: ListedFinding) -> Iterator[str]:
    yield one.sentence
    yield ""
    yield f"workload   {one.workload.owner_kind} {_title(one)}, image {one.image[:16]}"
    yield f"why        {one.reason}"
    yield (
        f"numbers    {one.readings} readings over {one.span_s / 60:.0f} min, p = {one.p:.2g},"
        f" {_levels(one)}"
    )
    if one.load is not None:
        yield f"load       known by its {one.load}"
    if one.first_seen is not None:
        yield f"first seen {moment(one.first_seen)}"
    if one.replicas_say:
        yield f"replicas   {one.replicas_say}"
    for replica in one.replicas:
        yield (
            f"           pid {replica.pid} on {replica.node}, {replica.age_s / 3600:.1f} h old:"
            f" {replica.level_bytes / MB:.1f} MB, {replica.rate_bytes_per_min / MB:+.2f} MB/min"
        )
    for site in one.sites:
        kept = "" if site.kept_share is None else f", keeps {site.kept_share:.0%} of what it takes"
        yield (
            f"site       {_place(site.function, site.file, site.line)}:"
            f" {site.rate_bytes_per_min / MB:+.2f} MB/min, {site.in_use_bytes / MB:.1f} MB in use,"
            f" {min(site.explained_share, 1):.0%} of the growth{kept}"
        )
    for spot in one.functions:
        yield (
            f"function   {_place(spot.function, spot.file, spot.line)}:"
            f" {spot.share_before:.1%} of CPU time before, {spot.share_now:.1%} now"
        )
    if one.busiest is not None and one.busiest.functions:
        hours = one.busiest.seconds / 3600
        yield f"CPU time   by {one.busiest.samples} samples of the last {hours:.0f} h, of all processes:"
        for busy in one.busiest.functions[:MOST_BUSY]:
            yield f"           {busy.share:6.1%}  {_place(busy.function, busy.file, busy.line)}"
    if one.stack:
        yield ""
        yield "allocated by"
        for function, file, line in one.stack:
            yield f"  {function}  {file}:{line}"
