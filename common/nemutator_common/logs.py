"""Structured logs on the standard library's logging.

A line is an event name in snake_case and keys from `names.py`, given as one mapping:

    log.info("child_restarted", {names.PROCESS: "brain", names.DELAY_S: 1.2})

`logging` keeps a lone mapping argument as it is, so no wrapper is needed and a third party's
ordinary lines come out in the same shape. Ids that belong to every line of a request or a task are
bound with `bound()` and follow it through awaits, because they live in a context variable.
"""

import contextlib
import contextvars
import functools
import json
import logging
import sys
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TextIO

from nemutator_common import names
from nemutator_common.settings import LogFormat, LogLevel

LONGEST_VALUE = 2_000
"""Characters of one value. What strangers send ends up here: it may not fill the disk."""

_NOTHING: Mapping[names.Key, object] = MappingProxyType({})
_encode = json.JSONEncoder(default=str).encode
"""One for all lines: `json.dumps` would make one for each."""
_bound = contextvars.ContextVar("bound", default=_NOTHING)


@contextlib.contextmanager
def bound(keys: Mapping[names.Key, object]) -> Iterator[None]:
    """Put *keys* on every line that is logged inside, in tasks started inside too."""
    token = _bound.set({**_bound.get(), **keys})
    try:
        yield
    finally:
        _bound.reset(token)


def configure(
    *, role: str, level: LogLevel, style: LogFormat, stream: TextIO | None = None
) -> None:
    """Send every line of this process to *stream* (standard error), in one format."""
    stream = stream or sys.stderr
    readable = style is LogFormat.TEXT or (style is LogFormat.AUTO and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter(role) if readable else JsonFormatter(role))
    # Nobody reads logging's own tracebacks about a closed terminal; losing a line must not matter.
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: fixed keys first, then the bound ones, then the line's own."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _timestamp(record.created),
            "level": record.levelname.lower(),
            "event": _shortened(record.getMessage()),
            names.ROLE: self._role,
            "logger": record.name,
            **_keys(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _encode(line)


class TextFormatter(logging.Formatter):
    """For people at a terminal: time, level, role, event, key=value."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        clock = _timestamp(record.created)[11:19]
        keys = " ".join(f"{key}={_on_one_line(value)}" for key, value in _keys(record).items())
        event = _on_one_line(record.getMessage())
        line = f"{clock} {record.levelname:<7} {self._role}: {event} {keys}".rstrip()
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _keys(record: logging.LogRecord) -> dict[str, object]:
    keys: dict[str, object] = {str(key): value for key, value in _bound.get().items()}
    if isinstance(record.args, Mapping):
        keys.update(record.args)
    return {str(key): _shortened(value) for key, value in keys.items()}


def _shortened(value: object) -> object:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"


def _on_one_line(value: object) -> str:
    """A stranger's text must not draw on the terminal or fake a line of its own."""
    text = str(_shortened(value))
    if text.isprintable() and " " not in text:
        return text
    return text if text.isprintable() else json.dumps(text)


def _timestamp(seconds: float) -> str:
    return f"{_second(int(seconds))}.{int(seconds % 1 * 1000):03d}Z"


@functools.lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
