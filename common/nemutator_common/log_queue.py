"""A queue between whoever logs and who reads the lines: a process never waits for a reader of its log."""

import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import TextIO

from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.repeated_lines import (
    NOTHING_MORE,
    RepeatedLine,
    RepeatingFormatter,
    RepeatsLines,
)

log = logging.getLogger(__name__)

MOST_CHARACTERS = 1 << 20
GATHER_S = 0.05
"""For so long the lines that follow a first one are gathered, and written with it."""

LAST_LINES_S = 2.0
"""How long the end of a process may wait until its last lines are written."""


class LogQueue(RepeatsLines):
    """Writes lines to *stream* in a thread of its own. While nobody reads them *most* characters wait;
    further lines are dropped and counted, and a line says so when somebody reads again."""

    def __init__(self, stream: TextIO, *, most: int = MOST_CHARACTERS) -> None:
        super().__init__()
        self._stream = stream
        self._most = most
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._lines: deque[str] = deque()
        self._characters = 0
        self._is_writing = False
        self._unreported = 0
        self._meter: Meter | None = None
        self._uncounted = 0
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def count_in(self, meter: Meter) -> None:
        """Count dropped lines in *meter*, those included that were dropped before."""
        with self._changed:
            self._meter = meter
            meter.count(names.LOG_LINES_DROPPED, self._uncounted)
            self._uncounted = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record) + "\n"
        except Exception:  # noqa: BLE001 - as each handler does: a line may not end what logs it
            self.handleError(record)
            return
        self._put(line)

    def repeat(self, line: RepeatedLine, more: Mapping[names.Key, object] = NOTHING_MORE) -> bool:
        formatter = self.formatter
        if not isinstance(formatter, RepeatingFormatter):
            return False
        again = formatter.format_again(line, more)
        if again is not None:
            self._put(again + "\n")
        return again is not None

    def _put(self, line: str) -> None:
        """Add *line*, which has its end."""
        with self._lock:
            if self._characters + len(line) > self._most:
                self._drop()
                return
            self._lines.append(line)
            self._characters += len(line)
            if len(self._lines) == 1:
                # Else the thread knows already: it waits for a first line only.
                self._changed.notify_all()

    def flush(self) -> None:
        """Return when all lines are written, or when that takes too long."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._lines and not self._is_writing, timeout=LAST_LINES_S
            )

    def _drop(self) -> None:
        self._unreported += 1
        if self._meter is None:
            self._uncounted += 1
        else:
            self._meter.count(names.LOG_LINES_DROPPED)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._lines)
            # Whoever logs a line would else wait for this thread's turn with each of them.
            time.sleep(GATHER_S)
            with self._changed:
                lines, dropped = list(self._lines), self._unreported
                self._lines.clear()
                self._unreported = 0
                self._is_writing = True
            # A terminal that is gone reads no line, and that does no harm.
            with contextlib.suppress(OSError, ValueError):
                _write(self._stream, "".join(lines))
            with self._changed:
                self._characters -= sum(map(len, lines))
            if dropped:
                # Not through the logger: at its shutdown it waits for this thread.
                self.emit(_report_of(dropped))


def _write(stream: TextIO, text: str) -> None:
    """Without the lock of the stream's own buffer: the interpreter takes that at its end, and would
    wait there for a reader."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        stream.write(text)
        return
    left = memoryview(text.encode(errors="backslashreplace"))
    while left:
        left = left[os.write(descriptor, left) :]


def _report_of(dropped: int) -> logging.LogRecord:
    arguments = ({names.COUNT: dropped},)
    return log.makeRecord(
        log.name, logging.WARNING, "", 0, "log_lines_dropped", arguments, exc_info=None
    )
