"""Makes summaries of snapshots: what a container used in a quarter of a minute, for sizing.

Where no control group counts CPU time, summaries are of programs (`programs.py`).

A mean is made of the counters at both ends of its time, so no CPU time is lost or counted twice
between two summaries of one group.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nemutator_common.wire import Pressure, Pressures, Summary
from nemutator_common.wire_activity import Activity, NetworkRates

from nemutator_agent.usage.group_names import is_sized, name_group
from nemutator_agent.usage.pod_networks import network_owner
from nemutator_agent.usage.programs import Counted, ProgramCounters
from nemutator_agent.usage.reports import LONGEST_COMMAND, LONGEST_PATH
from nemutator_agent.usage.snapshot import GroupCounters, MachineSnapshot, Waits
from nemutator_agent.usage.text import clean

_US_PER_S = 1_000_000
_DECIMALS = 6
_NOT_KNOWN, _NO_NETWORK = Activity(), NetworkRates()
_NO_WAITS = Waits(None, None, None)

LEAST_SHARE = 0.5
"""The least share of a summary's time that the last summary of a group must cover."""


class _Span(NamedTuple):
    """The time from the snapshot that began it to the last one that belongs to it."""

    inode: int | None
    from_monotonic: float
    from_us: int
    to_monotonic: float
    to_us: int
    to_at: float
    memory_bytes: int | None
    oom_kills_before: int | None
    activity: Activity
    """The last that was known."""
    network: NetworkRates
    pressures: Pressures
    waits: Waits

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
            span = None if before is None else _continued(what, before, counters, snapshot)
            if span is not None and span.elapsed_s >= self._every_s:
                completed.append((what, span))
                span = None
            elif span is None and before is not None:
                completed += self._last(what, before)
            spans[what] = _begun(what, counters, snapshot) if span is None else span
        for what in self._spans.keys() - spans.keys():
            completed += self._last(what, self._spans[what])
        self._spans = spans
        return tuple(one for what, span in sorted(completed, key=_order) for one in _of(what, span))

    def _last(self, what: Counted, span: _Span) -> Iterator[tuple[Counted, _Span]]:
        if span.elapsed_s >= LEAST_SHARE * self._every_s:
            yield what, span


def _order(completed: tuple[Counted, _Span]) -> tuple[str, bytes, float]:
    what, span = completed
    return what.path, what.command or b"", span.to_at


def _begun(what: Counted, counters: GroupCounters, snapshot: MachineSnapshot) -> _Span:
    used_us = counters.cpu_us or 0
    activity, network = _did(what, snapshot)
    return _Span(
        counters.inode,
        snapshot.monotonic,
        used_us,
        snapshot.monotonic,
        used_us,
        snapshot.at,
        counters.memory_bytes,
        activity.oom_kills,
        activity,
        network,
        counters.pressures,
        counters.waits or _NO_WAITS,
    )


def _did(what: Counted, snapshot: MachineSnapshot) -> tuple[Activity, NetworkRates]:
    """What is known of the group, and of the network that it shares with its pod's others."""
    if what.command is not None:
        return _NOT_KNOWN, _NO_NETWORK
    owner = snapshot.activities.get(network_owner(what.path) or what.path)
    network = None if owner is None else owner.traffic
    return snapshot.activities.get(what.path, _NOT_KNOWN), network or _NO_NETWORK


def _continued(
    what: Counted, span: _Span, counters: GroupCounters, snapshot: MachineSnapshot
) -> _Span | None:
    """*span* up to *snapshot*; None when this is another group under the same path."""
    if counters.cpu_us is None or counters.cpu_us < span.to_us or counters.inode != span.inode:
        return None
    seen = [b for b in (span.memory_bytes, counters.memory_bytes) if b is not None]
    activity, network = _did(what, snapshot)
    return _Span(
        span.inode,
        span.from_monotonic,
        span.from_us,
        snapshot.monotonic,
        counters.cpu_us,
        snapshot.at,
        max(seen, default=None),
        span.oom_kills_before,
        activity,
        network,
        counters.pressures,
        counters.waits or _NO_WAITS,
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
        throttled=span.activity.throttled,
        oom_kills=_more(span.oom_kills_before, span.activity.oom_kills),
        network_received=span.network.received,
        network_sent=span.network.sent,
        disk_read=span.activity.disk_read,
        disk_written=span.activity.disk_written,
        run_delay=span.activity.run_delay,
        run_delay_p99=span.activity.run_delay_p99,
        cpu_waiting=_waiting(span.waits.cpu, span.pressures.cpu),
        memory_waiting=_waiting_for_memory(span),
        disk_waiting=_waiting(span.waits.io, span.pressures.io),
    )


def _waiting(counted: float | None, pressure: Pressure | None) -> float | None:
    """The kernel's own mean fades over a minute: it stands in until there are two readings of the count."""
    if counted is not None:
        return counted
    return None if pressure is None else pressure.some_60s


def _waiting_for_memory(span: _Span) -> float | None:
    """With the part of its waits for a disk in which it read again what it has had: PSI counts that only for what
    was much used, and a disk that is fast hides it (`mm/workingset.c`)."""
    waiting = _waiting(span.waits.memory, span.pressures.memory)
    refaulted, read = span.waits.refaulted, span.activity.disk_read
    if span.waits.io is None or not refaulted or not read:
        return waiting
    return max(waiting or 0.0, round(span.waits.io * min(refaulted / read, 1.0), 2))


def _more(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before
