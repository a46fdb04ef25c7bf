"""Folds looks into summaries: what a container used in a quarter of a minute, for sizing to learn.

Means come from the counters at both ends of the time, never from means in between, so CPU time is
neither lost nor counted twice between two summaries of one group.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_common.wire import Summary

from nemutator_agent.usage.folding import LONGEST_PATH
from nemutator_agent.usage.looks import GroupCounters, Look
from nemutator_agent.usage.naming import name_group
from nemutator_agent.usage.text import clean

_US_PER_S = 1_000_000
_DECIMALS = 6

LEAST_SHARE = 0.5
"""Of the time of a summary that a group must have lived for its last, shorter one to count."""


@dataclass(frozen=True, slots=True)
class _Span:
    """From the look that began it to the last one that belonged to it."""

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


class Summing:
    """Remembers one span per group of the last look: bounded by what a look may hold."""

    def __init__(self, *, every_s: float) -> None:
        self._every_s = every_s
        self._spans: dict[str, _Span] = {}

    def add(self, look: Look) -> tuple[Summary, ...]:
        """The summaries that *look* completes; a group that has ended gets its last one."""
        completed = []
        spans: dict[str, _Span] = {}
        for path, counters in look.groups.items():
            if counters.cpu_us is None or not is_sized(path):
                continue
            before = self._spans.get(path)
            span = None if before is None else _continued(before, counters, look)
            if span is not None and span.elapsed_s >= self._every_s:
                completed.append((path, span))
                span = None
            elif span is None and before is not None:
                completed += self._last(path, before)
            spans[path] = _begun(counters, look) if span is None else span
        for path in self._spans.keys() - spans.keys():
            completed += self._last(path, self._spans[path])
        self._spans = spans
        return tuple(one for path, span in sorted(completed, key=_path) for one in _of(path, span))

    def _last(self, path: str, span: _Span) -> Iterator[tuple[str, _Span]]:
        if span.elapsed_s >= LEAST_SHARE * self._every_s:
            yield path, span


def is_sized(path: str) -> bool:
    """Whether the group at *path* is something that people give resources to.

    Slices and pods are sums of others. What a container makes of the groups below its own is
    counted in it, and would be taken for the container.
    """
    naming = name_group(path)
    if naming.kind in ("root", "slice", "pod"):
        return False
    return naming.container_id is None or naming.kind == "container"


def _path(completed: tuple[str, _Span]) -> tuple[str, float]:
    path, span = completed
    return path, span.to_at


def _begun(counters: GroupCounters, look: Look) -> _Span:
    used_us = counters.cpu_us or 0
    return _Span(
        counters.inode,
        look.monotonic,
        used_us,
        look.monotonic,
        used_us,
        look.at,
        counters.memory_bytes,
    )


def _continued(span: _Span, counters: GroupCounters, look: Look) -> _Span | None:
    """*span* up to *look*; None when this is another group under the same path."""
    if counters.cpu_us is None or counters.cpu_us < span.to_us or counters.inode != span.inode:
        return None
    seen = [b for b in (span.memory_bytes, counters.memory_bytes) if b is not None]
    return _Span(
        span.inode,
        span.from_monotonic,
        span.from_us,
        look.monotonic,
        counters.cpu_us,
        look.at,
        max(seen, default=None),
    )


def _of(path: str, span: _Span) -> Iterator[Summary]:
    # Without memory there is no summary: half of one would be taken for a small container.
    if span.memory_bytes is None or span.elapsed_s <= 0:
        return
    naming = name_group(path)
    yield Summary(
        path=clean(path, longest=LONGEST_PATH),
        pod_uid=naming.pod_uid,
        container_id=naming.container_id,
        # By the monotonic clock, so that the wall clock's jumps change no duration.
        from_at=span.to_at - span.elapsed_s,
        to_at=span.to_at,
        cpu_cores=round((span.to_us - span.from_us) / _US_PER_S / span.elapsed_s, _DECIMALS),
        memory_bytes=span.memory_bytes,
    )
