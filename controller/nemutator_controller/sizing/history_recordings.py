"""Recorded use as `nemutator history -o json` prints it, of one container: pure.

Strangers' bytes, as any recording is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

KIND = "WorkloadHistory"


class UnreadableHistoryError(Exception):
    """For people."""


@dataclass(frozen=True, slots=True)
class RecordedHistory:
    name: str
    points: tuple[tuple[float, float], ...]
    """When each step began, and what the busiest pod used in it; steps of which nothing is known are left out."""


class _Kind(msgspec.Struct):
    kind: str = ""


class _Measured(msgspec.Struct):
    mean: tuple[float | None, ...]
    """Of all pods together."""
    most: tuple[float | None, ...]
    """That one pod used."""


class _Figures(msgspec.Struct):
    cpu_cores: _Measured | None = None
    memory_bytes: _Measured | None = None


class _Document(msgspec.Struct):
    namespace: str
    owner: str
    container: str
    from_at: float
    step_s: float
    figures: _Figures


def is_history(content: bytes) -> bool:
    try:
        return msgspec.json.decode(content, type=_Kind).kind == KIND
    except msgspec.DecodeError:
        return False


def read_history(content: bytes, *, is_memory: bool) -> RecordedHistory:
    """Raises `UnreadableHistoryError`."""
    try:
        found = msgspec.json.decode(content, type=_Document)
    except msgspec.DecodeError as error:
        raise UnreadableHistoryError(str(error)) from error
    if found.step_s <= 0:
        raise UnreadableHistoryError(f"step_s: expected more than 0, not {found.step_s:g}")
    parts = (found.namespace, found.owner, found.container)
    measured = found.figures.memory_bytes if is_memory else found.figures.cpu_cores
    name = "/".join(part for part in parts if part not in ("", "-")) or "-"
    points = () if measured is None else tuple(_points(found, measured, is_memory=is_memory))
    return RecordedHistory(name, points)


def _points(
    found: _Document, measured: _Measured, *, is_memory: bool
) -> Iterator[tuple[float, float]]:
    for step, (mean, most) in enumerate(zip(measured.mean, measured.most, strict=False)):
        if most is None or mean is None:
            continue
        # One pod is all of them together, and of several none is more than that. Of memory the peak counts.
        yield found.from_at + step * found.step_s, most if is_memory else min(mean, most)
