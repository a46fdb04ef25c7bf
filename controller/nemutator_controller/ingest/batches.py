"""From a stranger's bytes to a `Batch` that the rest of the brain may trust.

Shapes are msgspec's work; what they cannot say (lengths, signs, order, clean text) is judged here,
before anything is stored or shown. What is refused is refused whole, with a reason to count.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
from nemutator_common.wire import Batch, Machine, Pressure, Pressures, Report

Refusal = Literal["malformed", "bounds", "text", "number", "order", "future"]

MOST_ENVELOPES = 1_000
MOST_WORKLOADS = 5_000
MOST_PROCESSES = 20_000
MOST_MISSING = 200
MOST_SUMMARIES = 20_000
"""Of 5 000 groups, after an absence of the brain that is a minute of them."""
LONGEST_NAME = 253
"""A node's: a DNS subdomain's limit. Names of processes and cgroups have the kernel's, 255."""
LONGEST_TEXT = 1_000
LONGEST_PATH = 4_096
LARGEST_NUMBER = 2.0**53
"""Beyond, JavaScript and SQLite's REAL no longer tell neighbours apart; no machine has so much."""

FUTURE_S = 300.0
"""How far an agent's clock may run ahead of ours: its points would hide the true ones until then."""

# Controls, line separators and what turns the direction of writing: they draw on terminals and
# disguise names. By code point, not by Unicode's tables: agent and brain may have different ones.
_UNCLEAN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_EPOCH = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RefusedBatchError(ValueError):
    """What is wrong with it, for its sender, and the one word under which it is counted."""

    def __init__(self, reason: Refusal, what: str) -> None:
        super().__init__(what)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Text:
    what: str
    value: str | None
    longest: int = LONGEST_NAME


_decoder = msgspec.json.Decoder(Batch)


def decode(body: bytes) -> Batch:
    """The batch in *body*; fields that this version does not know are ignored."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedBatchError("malformed", f"not a batch: {str(error)[:200]}") from error


def is_name(text: str) -> bool:
    """Whether *text* can name a node, or a pod."""
    return len(text) <= LONGEST_NAME and _NODE.fullmatch(text) is not None


def is_epoch(text: str) -> bool:
    return _EPOCH.fullmatch(text) is not None


def is_clean(text: str) -> bool:
    """Whether *text* may be shown: no controls, nothing that turns the direction of writing."""
    return _UNCLEAN.search(text) is None


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
        _check_report(envelope.report, now=now)


def _check_report(report: Report, *, now: float) -> None:
    _count("workloads", report.workloads, most=MOST_WORKLOADS)
    _count("processes", report.processes, most=MOST_PROCESSES)
    _count("missing", report.missing, most=MOST_MISSING)
    _count("summaries", report.summaries, most=MOST_SUMMARIES)
    _check_numbers(_numbers(report))
    if report.taken_at > now + FUTURE_S:
        ahead = report.taken_at - now
        raise RefusedBatchError("future", f"taken_at: {ahead:.0f} s ahead of the brain's clock")
    if any(not s.from_at <= s.to_at <= now + FUTURE_S for s in report.summaries):
        raise RefusedBatchError("future", "summaries: one ends before it begins, or ahead of time")
    for text in _texts(report):
        _check_text(text)
    if len({workload.path for workload in report.workloads}) < len(report.workloads):
        raise RefusedBatchError("bounds", "workloads: a path is there twice")
    if len({(p.pid, p.started_at) for p in report.processes}) < len(report.processes):
        raise RefusedBatchError("bounds", "processes: one is there twice")


def _count(what: str, things: tuple[object, ...], *, most: int) -> None:
    if len(things) > most:
        raise RefusedBatchError("bounds", f"{what}: {len(things)}, at most {most} are taken")


def _check_numbers(numbers: Iterable[float | None]) -> None:
    for number in numbers:
        # Written so that NaN fails too.
        if number is not None and not 0 <= number <= LARGEST_NUMBER:
            shown = f"{number:g}" if math.isfinite(number) else "infinite or no number"
            raise RefusedBatchError("number", f"a number is out of range: {shown}")


def _check_text(text: _Text) -> None:
    if text.value is None:
        return
    if len(text.value) > text.longest:
        raise RefusedBatchError("bounds", f"{text.what}: longer than {text.longest} characters")
    if not is_clean(text.value):
        raise RefusedBatchError("text", f"{text.what}: has control characters")
    if text.longest == LONGEST_PATH and not text.value.startswith("/"):
        raise RefusedBatchError("text", f"{text.what}: expected a path from the root")


def _texts(report: Report) -> Iterator[_Text]:
    yield _Text("kernel", report.machine.kernel)
    yield _Text("system", report.machine.system)
    yield _Text("boot_id", report.machine.boot_id)
    for workload in report.workloads:
        yield _Text("path of a workload", workload.path, LONGEST_PATH)
        yield _Text("name of a workload", workload.name)
        yield _Text("container_id", workload.container_id)
        yield _Text("pod_uid", workload.pod_uid)
    for process in report.processes:
        yield _Text("workload of a process", process.workload, LONGEST_PATH)
        yield _Text("command", process.command)
        yield _Text("runtime_version", process.runtime_version)
    for missing in report.missing:
        yield _Text("what is missing", missing.what, LONGEST_TEXT)
        yield _Text("why it is missing", missing.why, LONGEST_TEXT)
        yield _Text("remedy", missing.remedy, LONGEST_TEXT)
    for summary in report.summaries:
        yield _Text("path of a summary", summary.path, LONGEST_PATH)
        yield _Text("pod_uid of a summary", summary.pod_uid)
        yield _Text("container_id of a summary", summary.container_id)
        yield _Text("program of a summary", summary.program)


def _numbers(report: Report) -> Iterator[float | None]:
    yield report.taken_at
    yield from _machine_numbers(report.machine)
    for workload in report.workloads:
        yield workload.processes
        yield workload.cpu_cores
        yield workload.memory_bytes
        yield from _pressure_numbers(workload.pressures)
    for process in report.processes:
        yield process.pid
        yield process.started_at
        yield process.threads
        yield process.cpu_cores
        yield process.memory_bytes
    for summary in report.summaries:
        yield summary.from_at
        yield summary.to_at
        yield summary.cpu_cores
        yield summary.memory_bytes


def _machine_numbers(machine: Machine) -> Iterator[float | None]:
    yield machine.cpus
    yield machine.memory_bytes
    yield machine.cpu_cores
    yield machine.memory_used_bytes
    yield machine.swap_used_bytes
    yield machine.load_1m
    yield from _pressure_numbers(machine.pressures)


def _pressure_numbers(pressures: Pressures) -> Iterator[float | None]:
    for pressure in (pressures.cpu, pressures.memory, pressures.io):
        if pressure is not None:
            yield from _one_pressure(pressure)


def _one_pressure(pressure: Pressure) -> Iterator[float | None]:
    yield pressure.some_10s
    yield pressure.some_60s
    yield pressure.full_10s
    yield pressure.full_60s
