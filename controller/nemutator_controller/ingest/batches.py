"""From a stranger's bytes to a `Batch` that the rest of the brain may trust.

msgspec checks shapes; what they cannot say (lengths, signs, order, clean text) is checked here, before
anything is stored or shown. A batch is refused as a whole, with a reason that is counted.
"""

import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, TypeVar

import msgspec
from nemutator_common.wire import Batch, Report

from nemutator_controller.access.callers import LONGEST_NAME, is_name
from nemutator_controller.ingest import activities

T = TypeVar("T")

Refusal = Literal["malformed", "bounds", "text", "number", "order", "future"]

MOST_ENVELOPES = 1_000
MOST_WORKLOADS = 5_000
MOST_PROCESSES = 20_000
MOST_MISSING = 200
MOST_SUMMARIES = 20_000
"""One minute of 5 000 groups, as it comes after an outage of the brain."""
LONGEST_TEXT = 1_000
LONGEST_PATH = 4_096
LARGEST_NUMBER = 2.0**53
"""Beyond it, JavaScript and SQLite's REAL cannot tell neighbours apart; no machine has so much."""

FUTURE_S = 300.0
"""How far an agent's clock may be ahead of ours: until then its points would hide the true ones."""

# Control characters, line separators and marks that turn the direction of writing: they draw on
# terminals and disguise names. Code points, because agent and brain may have different Unicode tables.
_UNCLEAN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_EPOCH = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RefusedBatchError(ValueError):
    """What is wrong with a batch, for its sender, and the reason under which it is counted."""

    def __init__(self, reason: Refusal, what: str) -> None:
        super().__init__(what)
        self.reason = reason


_decoder = msgspec.json.Decoder(Batch)


def decode(body: bytes) -> Batch:
    """The batch in *body*; fields that this version does not know are ignored."""
    return decoded(_decoder, body)


def decoded(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """*body* in the shape of *decoder*; raises `RefusedBatchError`."""
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedBatchError("malformed", f"not a batch: {str(error)[:200]}") from error


def is_epoch(text: str) -> bool:
    return _EPOCH.fullmatch(text) is not None


def is_clean(text: str) -> bool:
    """Whether *text* may be shown: nothing in it controls terminals or turns the direction of writing."""
    # Almost all text is ASCII, about which all Unicode tables agree.
    return (text.isascii() and text.isprintable()) or _UNCLEAN.search(text) is None


def check(batch: Batch, *, now: float) -> None:
    """Refuse *batch* unless all of it is within bounds; *now* is the brain's own time."""
    if not is_name(batch.node):
        raise RefusedBatchError("text", "node: expected letters, digits, dots and dashes")
    if not is_epoch(batch.epoch):
        raise RefusedBatchError("text", "epoch: expected up to 64 letters, digits, _ and -")
    _count("envelopes", batch.envelopes, most=MOST_ENVELOPES)
    if not batch.envelopes:
        raise RefusedBatchError("bounds", "envelopes: expected at least one")
    last = 0
    for envelope in batch.envelopes:
        if not last < envelope.seq <= LARGEST_NUMBER:
            raise RefusedBatchError("order", f"seq: expected a number above {last}")
        last = envelope.seq
        check_report(envelope.report, now=now)


def check_report(report: Report, *, now: float) -> None:
    _count("workloads", report.workloads, most=MOST_WORKLOADS)
    _count("processes", report.processes, most=MOST_PROCESSES)
    _count("missing", report.missing, most=MOST_MISSING)
    _count("summaries", report.summaries, most=MOST_SUMMARIES)
    for what, number, most in activities.counts(report.machine, report.flows):
        if number > most:
            raise RefusedBatchError("bounds", f"{what}: {number}, at most {most} are taken")
    told = (*_numbers(report), *activities.numbers(report))
    _check_numbers([number for number in told if number is not None])
    if wrong := activities.wrong(report):
        raise RefusedBatchError("number", wrong)
    if report.taken_at > now + FUTURE_S:
        ahead = report.taken_at - now
        raise RefusedBatchError("future", f"taken_at: {ahead:.0f} s ahead of the brain's clock")
    if any(not s.from_at <= s.to_at <= now + FUTURE_S for s in report.summaries):
        raise RefusedBatchError("future", "summaries: one ends before it begins, or ahead of time")
    for what, longest, texts in (*_texts(report), *activities.texts(report, LONGEST_NAME)):
        if said := [text for text in texts if text is not None]:
            check_texts(what, longest, said)
    if len({workload.path for workload in report.workloads}) < len(report.workloads):
        raise RefusedBatchError("bounds", "workloads: the same path twice")
    if len({(p.pid, p.started_at) for p in report.processes}) < len(report.processes):
        raise RefusedBatchError("bounds", "processes: the same process twice")


def _count(what: str, members: tuple[object, ...], *, most: int) -> None:
    if len(members) > most:
        raise RefusedBatchError("bounds", f"{what}: {len(members)}, at most {most} are taken")


def _check_numbers(numbers: Sequence[float]) -> None:
    # All at once: the report of a full node has 3 000. Only a sum shows a NaN: comparisons do not.
    if min(numbers) >= 0 and max(numbers) <= LARGEST_NUMBER and math.isfinite(sum(numbers)):
        return
    wrong = next(number for number in numbers if not 0 <= number <= LARGEST_NUMBER)
    # JSON has integers that no float holds; a comparison with NaN is false.
    shown = f"{wrong:g}" if abs(wrong) <= sys.float_info.max else "infinite, or not a number"
    raise RefusedBatchError("number", f"a number is out of range: {shown}")


def check_texts(what: str, longest: int, texts: Sequence[str]) -> None:
    if max(map(len, texts), default=0) > longest:
        raise RefusedBatchError("bounds", f"{what}: longer than {longest} characters")
    if not is_clean("".join(texts)):
        raise RefusedBatchError("text", f"{what}: has control characters")
    if longest == LONGEST_PATH and not all(text.startswith("/") for text in texts):
        raise RefusedBatchError("text", f"{what}: expected a path from the root")


def _texts(report: Report) -> Iterator[tuple[str, int, Iterable[str | None]]]:
    """All texts of each kind, with the most characters that one may have."""
    machine = report.machine
    yield "kernel", LONGEST_NAME, (machine.kernel,)
    yield "system", LONGEST_NAME, (machine.system,)
    yield "boot_id", LONGEST_NAME, (machine.boot_id,)
    members: tuple[Sequence[object], ...] = (
        report.workloads,
        report.processes,
        report.missing,
        report.summaries,
    )
    for several, kinds in zip(members, _KINDS_OF_TEXTS, strict=True):
        # A report of columns has none of them.
        if several:
            for what, longest, text in kinds:
                yield what, longest, map(text, several)


_KINDS_OF_TEXTS = (
    (
        ("path of a workload", LONGEST_PATH, attrgetter("path")),
        ("name of a workload", LONGEST_NAME, attrgetter("name")),
        ("container_id", LONGEST_NAME, attrgetter("container_id")),
        ("pod_uid", LONGEST_NAME, attrgetter("pod_uid")),
    ),
    (
        ("workload of a process", LONGEST_PATH, attrgetter("workload")),
        ("command", LONGEST_NAME, attrgetter("command")),
        ("script", LONGEST_NAME, attrgetter("script")),
        ("runtime_version", LONGEST_NAME, attrgetter("runtime_version")),
    ),
    (
        ("what is missing", LONGEST_TEXT, attrgetter("what")),
        ("why it is missing", LONGEST_TEXT, attrgetter("why")),
        ("remedy", LONGEST_TEXT, attrgetter("remedy")),
    ),
    (
        ("path of a summary", LONGEST_PATH, attrgetter("path")),
        ("pod_uid of a summary", LONGEST_NAME, attrgetter("pod_uid")),
        ("container_id of a summary", LONGEST_NAME, attrgetter("container_id")),
        ("program of a summary", LONGEST_NAME, attrgetter("program")),
    ),
)
"""Of workloads, processes, what is missing and summaries."""


def _numbers(report: Report) -> list[float | None]:
    machine, passed = report.machine, report.machine.throughput
    numbers: list[float | None] = [
        report.taken_at,
        machine.cpus,
        machine.memory_bytes,
        machine.cpu_cores,
        machine.memory_used_bytes,
        machine.memory_available_bytes,
        machine.swap_used_bytes,
        machine.load_1m,
        passed.disk_read,
        passed.disk_written,
        passed.network_received,
        passed.network_sent,
    ]
    for workload in report.workloads:
        numbers += (workload.processes, workload.cpu_cores, workload.memory_bytes)
    for process in report.processes:
        numbers += (
            process.pid,
            process.started_at,
            process.threads,
            process.cpu_cores,
            process.memory_bytes,
        )
    for summary in report.summaries:
        numbers += (summary.from_at, summary.to_at, summary.cpu_cores, summary.memory_bytes)
    for pressures in (machine.pressures, *(workload.pressures for workload in report.workloads)):
        for one in (pressures.cpu, pressures.memory, pressures.io):
            if one is not None:
                numbers += (one.some_10s, one.some_60s, one.full_10s, one.full_60s)
    return numbers
