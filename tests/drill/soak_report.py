"""The one page that a soak ends with: what was killed, what held, and what it cost. Markdown, of figures alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

MOST_COMPLAINTS = 50
"""On the page; how many there were stands above them."""


@dataclass(frozen=True, slots=True)
class Round:
    """One kill, or two at once, until all was well again."""

    at_s: float
    killed: tuple[str, ...]
    well_after_s: float
    secrets_after_s: float
    """Until every pod had what was written to Vault after that."""
    journal_after_s: float
    """Until each change that pods carry was in the journal."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What the processes of one part held by themselves (RssAnon), once they were a minute old."""

    part: str
    readings: int
    early_mib: float
    """The median of the first third of the time."""
    late_mib: float
    """The median of the last third."""
    most_mib: float


@dataclass(frozen=True, slots=True)
class Latencies:
    """Of pods that admission was asked about, from request to answer by the API server's own account, in ms."""

    pods: int
    p50: float
    p99: float
    most: float


@dataclass(frozen=True, slots=True)
class Soak:
    """All that is told of one soak."""

    began: str
    machine: str
    minutes: float
    load: tuple[float, float]
    """One-minute load averages of the machine: the median and the largest."""
    pods_per_s: float
    rounds: Sequence[Round]
    counts: Mapping[str, int]
    """By what was counted, in words."""
    latencies: Latencies
    memory: Sequence[Memory]
    complaints: Sequence[str] = field(default=())
    """Every promise that did not hold; none is what is wanted."""


def page(soak: Soak) -> str:
    return "\n".join(_lines(soak)) + "\n"


def _lines(soak: Soak) -> Iterable[str]:
    kills = sum(len(one.killed) for one in soak.rounds)
    held = not soak.complaints
    yield f"# Soak of {soak.began}: {'every promise held' if held else 'NOT every promise held'}"
    yield ""
    yield (
        f"{soak.minutes:.0f} minutes on {soak.machine}, load {soak.load[0]:.1f} (median) to {soak.load[1]:.1f};"
        f" {soak.pods_per_s:.1f} pods were made and ended each second, and {kills} processes were killed in"
        f" {len(soak.rounds)} rounds."
    )
    if soak.complaints:
        yield from ("", f"## What did not hold ({len(soak.complaints)})", "")
        yield from (f"- {_plain(one)}" for one in soak.complaints[:MOST_COMPLAINTS])
        if len(soak.complaints) > MOST_COMPLAINTS:
            yield f"- and {len(soak.complaints) - MOST_COMPLAINTS} more"
    yield from ("", "## Counted", "", "| what | how many |", "|---|---|")
    yield from (f"| {what} | {many} |" for what, many in soak.counts.items())
    slow = soak.latencies
    yield from ("", "## Creating a pod that admission is asked about", "")
    yield "| pods | median, ms | 99 of 100, ms | slowest, ms |"
    yield "|---|---|---|---|"
    yield f"| {slow.pods} | {slow.p50:.0f} | {slow.p99:.0f} | {slow.most:.0f} |"
    yield from ("", "## After a kill of", "")
    yield "| part | kills | well again after, s: median | longest | secrets after, s: longest | journal after, s: longest |"
    yield "|---|---|---|---|---|---|"
    for part in sorted({name for one in soak.rounds for name in one.killed}):
        yield _of_part(part, [one for one in soak.rounds if part in one.killed])
    yield from ("", "## Memory of its own, MiB", "")
    yield "| part | readings | first third | last third | most |"
    yield "|---|---|---|---|---|"
    for one in soak.memory:
        yield f"| {one.part} | {one.readings} | {one.early_mib:.1f} | {one.late_mib:.1f} | {one.most_mib:.1f} |"
    yield from ("", "## Rounds", "", "| at, s | killed | well after, s | secrets, s | journal, s |")
    yield "|---|---|---|---|---|"
    for turn in soak.rounds:
        yield (
            f"| {turn.at_s:.0f} | {', '.join(turn.killed)} | {turn.well_after_s:.1f} |"
            f" {turn.secrets_after_s:.1f} | {turn.journal_after_s:.1f} |"
        )


def _of_part(part: str, rounds: Sequence[Round]) -> str:
    well = [one.well_after_s for one in rounds]
    secrets = max(one.secrets_after_s for one in rounds)
    journal = max(one.journal_after_s for one in rounds)
    return (
        f"| {part} | {len(rounds)} | {median(well):.1f} | {max(well):.1f} | {secrets:.1f} |"
        f" {journal:.1f} |"
    )


def _plain(text: str) -> str:
    """On one line, with nothing in it that Markdown or a browser would take for its own."""
    words = " ".join(text.split())[:500]
    return "".join(f"\\{sign}" if sign in r"\`*_[]<>|&#" else sign for sign in words)


def memory_of(
    part: str, readings: Sequence[tuple[float, float]], *, minutes: float
) -> Memory | None:
    """Of *readings* of seconds since the beginning and MiB; None where a third of the time has none."""
    third = minutes * 60 / 3
    early = [mib for at, mib in readings if at <= third]
    late = [mib for at, mib in readings if at >= 2 * third]
    if not early or not late:
        return None
    most = max(mib for _, mib in readings)
    return Memory(part, len(readings), median(early), median(late), most)


def grows(memory: Memory) -> bool:
    """Whether it is more at the end than what a third and 8 MiB of chance explain."""
    return memory.late_mib > memory.early_mib * 4 / 3 + 8


def latencies_of(waits_ms: Sequence[float]) -> Latencies:
    ordered = sorted(waits_ms)
    if not ordered:
        return Latencies(0, 0, 0, 0)
    at = len(ordered) - 1
    return Latencies(len(ordered), ordered[at // 2], ordered[at * 99 // 100], ordered[-1])
