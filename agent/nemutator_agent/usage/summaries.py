"""Makes summaries of snapshots: what a container used in a quarter of a minute, for sizing.

Where no control group counts CPU time, summaries are of programs (`programs.py`).

A mean is made of the counters at both ends of its time, so no CPU time is lost or counted twice
between two summaries of one group.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_common.wire import Summary

from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.programs import Counted, ProgramCounters
from nemutator_agent.usage.reports import LONGEST_COMMAND, LONGEST_PATH
from nemutator_agent.usage.snapshot import GroupCounters, MachineSnapshot
from nemutator_agent.usage.text import clean

_US_PER_S = 1_000_000
_DECIMALS = 6

LEAST_SHARE = 0.5
"""The least share of a summary's time that the last summary of a group must cover."""


@dataclass(frozen=True, slots=True)
class _Span:
    """The time from the snapshot that began it to the last one that belongs to it."""

    inode: int | None
    from_monotonic: float
    from_us: int
    to_monotonic: float
    to_us: int
    to_at: float
    memory_bytes: int | None

    @property
    def elapsed_s(self) -> float:
        return self.to_monotonic - self.from_monotonic


class Summaries:
    """Remembers one span per group or program of the last snapshot, which has a bound."""

    def __init__(self, *, every_s: float) -> None:
        self._every_s = every_s
        self._programs = ProgramCounters()
        self._spans: dict[Counted, _Span] = {}

    def add(self, snapshot: MachineSnapshot, *, ticks_per_s: int) -> tuple[Summary, ...]:
        """The summaries that *snapshot* completes. A group that has ended gets its last one."""
        completed = []
        spans: dict[Counted, _Span] = {}
        counted = {
            Counted(path): counters
            for path, counters in snapshot.groups.items()
            if counters.cpu_us is not None and is_sized(path)
        }
        counted.update(self._programs.add(snapshot, ticks_per_s=ticks_per_s))
        for what, counters in counted.items():
            before = self._spans.get(what)
            span = None if before is None else _continued(before, counters, snapshot)
            if span is not None and span.elapsed_s >= self._every_s:
                completed.append((what, span))
                span = None
            elif span is None and before is not None:
                completed += self._last(what, before)
            spans[what] = _begun(counters, snapshot) if span is None else span
        for what in self._spans.keys() - spans.keys():
            completed += self._last(what, self._spans[what])
        self._spans = spans
        return tuple(one for what, span in sorted(completed, key=_order) for one in _of(what, span))

    def _last(self, what: Counted, span: _Span) -> Iterator[tuple[Counted, _Span]]:
        if span.elapsed_s >= LEAST_SHARE * self._every_s:
            yield what, span


def is_sized(path: str) -> bool:
    """Whether the group at *path* is something that people give resources to.

    Slices and pods are sums of others. Groups that a container makes below its own are counted in it
    already, and would be taken for the container.
    """
    naming = name_group(path)
    if naming.kind in ("root", "slice", "pod"):
        return False
    return naming.container_id is None or naming.kind == "container"


def _order(completed: tuple[Counted, _Span]) -> tuple[str, bytes, float]:
    what, span = completed
    return what.path, what.command or b"", span.to_at


def _begun(counters: GroupCounters, snapshot: MachineSnapshot) -> _Span:
    used_us = counters.cpu_us or 0
    return _Span(
        counters.inode,
        snapshot.monotonic,
        used_us,
        snapshot.monotonic,
        used_us,
        snapshot.at,
        counters.memory_bytes,
    )


def _continued(span: _Span, counters: GroupCounters, snapshot: MachineSnapshot) -> _Span | None:
    """*span* up to *snapshot*; None when this is another group under the same path."""
    if counters.cpu_us is None or counters.cpu_us < span.to_us or counters.inode != span.inode:
        return None
    seen = [b for b in (span.memory_bytes, counters.memory_bytes) if b is not None]
    return _Span(
        span.inode,
        span.from_monotonic,
        span.from_us,
        snapshot.monotonic,
        counters.cpu_us,
        snapshot.at,
        max(seen, default=None),
    )


def _of(what: Counted, span: _Span) -> Iterator[Summary]:
    # Without memory there is no summary: half of one would look like a small container.
    if span.memory_bytes is None or span.elapsed_s <= 0:
        return
    program = None if what.command is None else clean(what.command, longest=LONGEST_COMMAND)
    naming = name_group(what.path)
    yield Summary(
        path=clean(what.path, longest=LONGEST_PATH),
        pod_uid=naming.pod_uid,
        container_id=naming.container_id,
        program=program,
        # By the monotonic clock, so that the wall clock's jumps change no duration.
        from_at=span.to_at - span.elapsed_s,
        to_at=span.to_at,
        cpu_cores=round((span.to_us - span.from_us) / _US_PER_S / span.elapsed_s, _DECIMALS),
        memory_bytes=span.memory_bytes,
    )
