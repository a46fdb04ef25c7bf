"""Structured logs on the standard library's logging.

A line is an event name in snake_case and keys from `names/`, given as one mapping:

    log.info("child_restarted", {names.PROCESS: "brain", names.DELAY_S: 1.2})

`logging` leaves a single mapping argument as it is, so no wrapper is needed, and ordinary lines of
third-party libraries come out in the same shape. Ids that belong to every line of a request or a
task are bound with `bound()` and follow it through awaits, because they are in a context variable.
"""

import contextlib
import contextvars
import functools
import json
import logging
import sys
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TextIO

from nemutator_common import names
from nemutator_common.log_queue import LogQueue
from nemutator_common.meters import Meter
from nemutator_common.repeated_lines import NOTHING_MORE, RepeatedLine, RepeatingFormatter
from nemutator_common.settings import LogFormat, LogLevel

LONGEST_VALUE = 2_000
"""The most characters of one value: strangers' text is logged, and it may not fill the disk."""

_NOTHING: Mapping[names.Key, object] = MappingProxyType({})
_encode = json.JSONEncoder(default=str, check_circular=False).encode
"""One encoder serves all lines: `json.dumps` would make one for each. Values are flat here."""
_encode_text = json.encoder.encode_basestring_ascii
_bound = contextvars.ContextVar("bound", default=_NOTHING)


class _Bound:
    """Not a generator, which takes three times as long: each request has one."""

    __slots__ = ("_keys", "_token")

    def __init__(self, keys: Mapping[names.Key, object]) -> None:
        self._keys = keys

    def __enter__(self) -> None:
        outer = _bound.get()
        self._token = _bound.set({**outer, **self._keys} if outer else self._keys)

    def __exit__(self, *_: object) -> None:
        _bound.reset(self._token)


def bound(keys: Mapping[names.Key, object]) -> contextlib.AbstractContextManager[None]:
    """Add *keys* to every line that is logged inside the block, also by tasks started in it."""
    return _Bound(keys)


def configure(
    *, role: str, level: LogLevel, style: LogFormat, stream: TextIO | None = None
) -> None:
    """Send every line of this process to *stream* (standard error), in one format."""
    stream = stream or sys.stderr
    readable = style is LogFormat.TEXT or (style is LogFormat.AUTO and stream.isatty())
    handler = LogQueue(stream)
    handler.setFormatter(TextFormatter(role) if readable else JsonFormatter(role))
    # Nobody reads logging's own tracebacks about a closed terminal, and a lost line does no harm.
    logging.raiseExceptions = False
    # No format of ours shows the place in the code, the thread or the process, which take longer to find
    # than a line to write. Python's documentation names these switches ("Optimization").
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)


def count_dropped(meter: Meter) -> None:
    """Let *meter* count the lines that nobody reads."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogQueue):
            handler.count_in(meter)


def flush() -> None:
    """Return when all lines so far are written, or when that takes too long."""
    for handler in logging.getLogger().handlers:
        handler.flush()


class JsonFormatter(RepeatingFormatter):
    """Writes one JSON object per line: fixed keys first, then bound keys, then the line's own."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _timestamp(record.created),
            **self._head(record),
            **_keys(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _encode(line)

    def format_again(
        self, line: RepeatedLine, more: Mapping[names.Key, object] = NOTHING_MORE
    ) -> str | None:
        made = line.made
        if made is None or made[0] is not self:
            made = line.made = (self, *self._parts(line))
        between, own = "", line.keys
        for keys in (_bound.get(), more):
            for key, value in keys.items():
                if key in own:
                    return None
                between += _key_text(key) + _value_text(value)
        return f'{{"time": "{_timestamp(time.time())}", {made[1]}{between}{made[2]}'

    def _parts(self, line: RepeatedLine) -> tuple[str, str]:
        """What is before the bound keys, and what is behind them."""
        record = line.log.makeRecord(line.log.name, line.level, "", 0, line.event, (), None)
        keys = {str(key): _shortened(value) for key, value in line.keys.items()}
        behind = f", {_encode(keys)[1:]}" if keys else "}"
        return _encode(self._head(record))[1:-1], behind

    def _head(self, record: logging.LogRecord) -> dict[str, object]:
        return {
            "level": record.levelname.lower(),
            "event": _shortened(record.getMessage()),
            names.ROLE: self._role,
            "logger": record.name,
        }


class TextFormatter(logging.Formatter):
    """Writes lines for people at a terminal: time, level, role, event, key=value."""

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
    keys: dict[Any, object] = {**_bound.get()}
    if isinstance(record.args, Mapping):
        keys.update(record.args)
    return {str(key): _plain(value) for key, value in keys.items()}


def _plain(value: object) -> object:
    return value if type(value) is str and len(value) <= LONGEST_VALUE else _shortened(value)


def _shortened(value: object) -> object:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"


def _value_text(value: object) -> str:
    # Most are short texts or numbers, which need none of the encoder's questions.
    if type(value) is str and len(value) <= LONGEST_VALUE:
        return _encode_text(value)
    return str(value) if type(value) is int else _encode(_plain(value))


class _KeyTexts(dict[names.Key, str]):
    def __missing__(self, key: names.Key) -> str:
        self[key] = text = f', "{key}": '
        return text


_key_text = _KeyTexts().__getitem__
"""There are as many keys as are declared."""


def _on_one_line(value: object) -> str:
    """*value* on one line: a stranger's text must not control the terminal or forge a log line."""
    text = str(_shortened(value))
    if text.isprintable() and " " not in text:
        return text
    return text if text.isprintable() else json.dumps(text)


def _timestamp(seconds: float) -> str:
    return _millisecond(int(seconds * 1000))


# A busy process logs many lines in one millisecond.
@functools.lru_cache(maxsize=2)
def _millisecond(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@functools.lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
