"""Traces as a port: code that opens a span does not know whether somebody collects it.

By default nobody does, and a span costs one call that does nothing. `serving/otlp_traces.py` has the other form.
"""

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from nemutator_common.names import TracedSpan

# W3C Trace Context, level 1: later versions may add fields behind these.
_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
LONGEST = 256


@dataclass(frozen=True, slots=True)
class TraceParent:
    """The span of somebody else, of which ours is a part."""

    trace: str
    span: str
    sampled: bool


class Span(Protocol):
    @property
    def trace(self) -> str:
        """The id of its trace, 32 hexadecimal digits; empty where nobody collects it."""
        ...

    def note(self, **attributes: str) -> None:
        """Those that its declaration names; any other raises at once."""
        ...


class Tracer(Protocol):
    @property
    def collects(self) -> bool:
        """Whether anybody collects spans."""
        ...

    def span(
        self, declared: TracedSpan, parent: TraceParent | None = None
    ) -> AbstractContextManager[Span]:
        """Around what takes the time; without *parent* it is part of the span that is open, if one is."""
        ...


class NoSpan:
    trace = ""

    def note(self, **attributes: str) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


_NO_SPAN = NoSpan()


class NoTracer:
    collects = False

    def span(self, declared: TracedSpan, parent: TraceParent | None = None) -> NoSpan:
        return _NO_SPAN


NO_TRACER = NoTracer()


def parent_of(header: str | None) -> TraceParent | None:
    """What the header `traceparent` says; None where it says nothing of use."""
    if not header or len(header) > LONGEST:
        return None
    found = _PARENT.fullmatch(header.strip())
    if found is None:
        return None
    trace, span, flags = found.groups()
    if not int(trace, 16) or not int(span, 16):
        return None
    return TraceParent(trace, span, bool(int(flags, 16) & 1))
