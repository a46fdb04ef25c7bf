"""From a node's records of quiet windows to such that may be kept and shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
from nemutator_common.windows import (
    DEEPEST,
    LONGEST_NAME,
    MOST_FUNCTIONS,
    MOST_SITES,
    MOST_SYMBOLS,
    WindowPause,
    WindowReading,
    WindowSymbols,
)

from nemutator_controller.ingest.batches import (
    FUTURE_S,
    LARGEST_NUMBER,
    LONGEST_PATH,
    is_clean,
)

WindowRecord = WindowReading | WindowSymbols | WindowPause

_SHAPES: Mapping[str, type[WindowRecord]] = {
    "reading": WindowReading,
    "symbols": WindowSymbols,
    "pause": WindowPause,
}

LONGEST_ID = 64
MOST_MISSING = 32
LONGEST_WHY = 1_000


def window_records(
    writer: str, records: Sequence[Mapping[str, object]], *, now: float
) -> Iterator[WindowRecord]:
    """The *records* of the node *writer*; a ValueError says what is wrong with one.

    A kind of record that this version does not know is left out, so that newer agents are heard.
    """
    for record in records:
        kind = record.get("record")
        shape = _SHAPES.get(kind) if isinstance(kind, str) else None
        if shape is None:
            continue
        try:
            found = msgspec.convert(record, shape)
        except msgspec.ValidationError as error:
            raise ValueError(f"not a window: {str(error)[:200]}") from error
        if found.node != writer:
            raise ValueError("node: expected the writer's own name")
        _check_bounds(found)
        _check(record, depth=0)
        yield _in_our_time(found, now=now)


def _check_bounds(found: WindowRecord) -> None:
    if isinstance(found, WindowReading):
        if found.heap is not None and len(found.heap.sites) > MOST_SITES:
            raise ValueError(f"sites: expected up to {MOST_SITES}")
        if found.cpu is not None and len(found.cpu.functions) > MOST_FUNCTIONS:
            raise ValueError(f"functions: expected up to {MOST_FUNCTIONS}")
        if len(found.missing) > MOST_MISSING:
            raise ValueError(f"missing: expected up to {MOST_MISSING}")
    elif isinstance(found, WindowSymbols):
        if len(found.sites) + len(found.functions) > MOST_SYMBOLS:
            raise ValueError(f"symbols: expected up to {MOST_SYMBOLS}")
        if any(len(site.frames) > DEEPEST for site in found.sites):
            raise ValueError(f"frames: expected up to {DEEPEST}")


def _check(value: object, *, depth: int, key: str = "") -> None:
    """Every text and number of a record; its shape has been checked, so it is not deep."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _check(inner, depth=depth + 1, key=str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner, depth=depth + 1, key=key)
    elif isinstance(value, str):
        longest = _LONGEST.get(key, LONGEST_NAME)
        if len(value) > longest or not is_clean(value):
            raise ValueError(f"{key[:40]}: longer than {longest}, or with control characters")
    # Written so that NaN fails too.
    elif isinstance(value, int | float) and not 0 <= value <= LARGEST_NUMBER:
        raise ValueError(f"{key[:40]}: a number is out of range")


_LONGEST = {
    "id": LONGEST_ID,
    "site": LONGEST_ID,
    "group": LONGEST_PATH,
    "why": LONGEST_WHY,
    "remedy": LONGEST_WHY,
}


def _in_our_time(found: WindowRecord, *, now: float) -> WindowRecord:
    """*found*, or with our time where its node's clock is far ahead: to refuse it would lose all of them."""
    if isinstance(found, WindowSymbols) or found.at - now <= FUTURE_S:
        return found
    if isinstance(found, WindowPause):
        return replace(found, at=now)
    ahead = found.at - now
    process = replace(found.process, started_at=max(found.process.started_at - ahead, 0.0))
    return replace(found, at=now, process=process)
