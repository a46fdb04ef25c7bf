"""Decisions on this replica's disk until the brain has them.

They are numbered records in segments. A segment's name has its epoch and its first number, so that no
number is used twice while a file of that epoch exists. A segment is removed when all of it is shipped.
The bytes are in the page cache before `save` returns, and survive the death of this process. `durable`
waits for the disk; those that wait at the same time share one fsync.
"""

import asyncio
import contextlib
import errno
import logging
import math
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process

from nemutator_controller.admission.frames import (
    LARGEST,
    OVERHEAD,
    NotSavedError,
    frame,
    frames_in,
)

log = logging.getLogger(__name__)

SEGMENT_BYTES = 1 << 20

COMMIT_S = 1.5
"""The disk's deadline. A pod whose record takes longer is not changed."""

CHECK_S = 0.1
"""For so long after the file that is written to was seen, it counts as being there."""

_NAME = re.compile(r"(?P<epoch>[0-9a-f]{16})-(?P<first>[0-9]{20})\.spool")
_ENVELOPE_BYTES = 64
_HEAD_BYTES = 1024


@dataclass(slots=True)
class _Segment:
    path: Path
    first_seq: int
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of each record."""
    size: int = 0

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.spans) - 1


class Spool:
    """The `DecisionRecords` of admission, and the `RecordQueue` of its shipper."""

    def __init__(self, directory: Path, *, most_bytes: int, process: Process) -> None:
        """Open what an earlier process has left in *directory*; raises `OperatorError`."""
        self._directory = directory
        self._most_bytes = most_bytes
        self._process = process
        self._segments: list[_Segment] = []
        # What the segments have together, counted anew only when one is gone: there may be thousands.
        self._count = 0
        self._size = 0
        self._forgotten = 0
        self._writing: int | None = None
        self._check_at = -math.inf
        self._durable = 0
        self._broken = False
        self._set_records = process.meter.level(names.SPOOL_RECORDS)
        self._set_bytes = process.meter.level(names.SPOOL_BYTES)
        self.added: Callable[[], None] = lambda: None
        """Called after each record, to wake the shipper."""
        self._commit = asyncio.Lock()
        self.epoch = secrets.token_hex(8)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._recover()
        except OSError as error:
            raise OperatorError(
                f"cannot use the spool {directory}: {error.strerror}",
                remedy="give the process a data directory that it can write to",
                code=ExitCode.DATA_DIRECTORY,
            ) from error
        self._last_seq = self._segments[-1].last_seq if self._segments else 0
        if self._segments:
            self._forgotten = self._segments[0].first_seq - 1
        self._count_anew()

    def __len__(self) -> int:
        return self._count

    @property
    def last_seq(self) -> int:
        return self._last_seq

    @property
    def size(self) -> int:
        return self._size

    def keep(self, record: bytes) -> None:
        self._append(record)
        self.added()

    async def save(self, record: bytes, *, durable: bool) -> None:
        if durable:
            self._check_at = -math.inf
        self.keep(record)
        if not durable:
            return
        seq = self._last_seq
        try:
            async with asyncio.timeout(COMMIT_S), self._commit:
                if self._durable < seq:
                    await self._sync()
        except TimeoutError as error:
            raise NotSavedError("disk_slow", f"the disk took more than {COMMIT_S:g} s") from error
        except OSError as error:
            raise NotSavedError("disk", f"the disk refuses it: {error.strerror}") from error

    def first(self, *, most: int, most_bytes: int) -> Sequence[tuple[int, bytes]]:
        taken: list[tuple[int, bytes]] = []
        size = _HEAD_BYTES
        for seq, record in self._waiting():
            size += len(record) + _ENVELOPE_BYTES
            if taken and (len(taken) >= most or size > most_bytes):
                break
            taken.append((seq, record))
        return taken

    def forget(self, *, up_to: int) -> None:
        self._forgotten = max(self._forgotten, up_to)
        # The segment that is written to stays: by its name a next process goes on with the numbers.
        while len(self._segments) > 1 and self._segments[0].last_seq <= self._forgotten:
            gone = self._segments.pop(0)
            with contextlib.suppress(OSError):
                gone.path.unlink(missing_ok=True)
        self._count_anew()

    def close(self) -> None:
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None

    def _append(self, record: bytes) -> None:
        if len(record) > LARGEST:
            raise NotSavedError("too_large", f"the record has more than {LARGEST} bytes")
        if self._size + len(record) + OVERHEAD > self._most_bytes:
            raise NotSavedError("spool_full", "the spool is full: the brain has been away too long")
        try:
            descriptor, segment = self._current()
            begin = segment.size + OVERHEAD
            self._write(descriptor, segment, frame(record))
        except OSError as error:
            raise NotSavedError("disk", f"the disk refuses it: {error.strerror}") from error
        segment.spans.append((begin, begin + len(record)))
        segment.size = begin + len(record)
        self._last_seq += 1
        self._count += 1
        self._size += OVERHEAD + len(record)
        self._set_records(self._count)
        self._set_bytes(self._size)

    def _write(self, descriptor: int, segment: _Segment, content: bytes) -> None:
        try:
            if os.write(descriptor, content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            # Half a frame would hide what is written after it.
            try:
                os.ftruncate(descriptor, segment.size)
            except OSError:
                self._broken = True
            raise

    def _current(self) -> tuple[int, _Segment]:
        """The segment that is written to; a new one when the last is full, broken or gone."""
        last = self._segments[-1] if self._segments else None
        if (
            self._writing is not None
            and last is not None
            and last.size < SEGMENT_BYTES
            and not self._broken
            and self._is_there(self._writing)
        ):
            return self._writing, last
        path = self._directory / f"{self.epoch}-{self._last_seq + 1:020}.spool"
        if last is not None and last.path == path:
            # That segment has no whole record yet.
            self._size -= self._segments.pop().size
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        self.close()
        self._writing, self._broken = descriptor, False
        self._segments.append(_Segment(path, self._last_seq + 1))
        return descriptor, self._segments[-1]

    def _is_there(self, descriptor: int) -> bool:
        """What is written to a file that was removed is lost with this process. Somebody who removes it takes what waits in it,
        too: it is asked for from time to time, which takes as long as a quarter of a record."""
        now = self._process.clock.monotonic()
        if now < self._check_at:
            return True
        self._check_at = now + CHECK_S
        return os.fstat(descriptor).st_nlink > 0

    async def _sync(self) -> None:
        upto = self._last_seq
        written = [each.path for each in self._segments if each.last_seq > self._durable]
        await asyncio.to_thread(_sync, written, self._directory)
        self._durable = upto

    def _waiting(self) -> Iterator[tuple[int, bytes]]:
        for segment in tuple(self._segments):
            if segment.last_seq <= self._forgotten or not segment.spans:
                continue
            try:
                content = segment.path.read_bytes()
            except OSError as error:
                self._lose(segment, error)
                continue
            for index, (begin, end) in enumerate(segment.spans):
                seq = segment.first_seq + index
                if seq > self._forgotten:
                    yield seq, content[begin:end]

    def _lose(self, segment: _Segment, error: OSError) -> None:
        """Go on without *segment*: other records wait behind it, and its pods carry their stamps."""
        log.error(
            "spool_damaged",
            {
                names.PATH: segment.path.name,
                names.ERROR: error.strerror,
                names.COUNT: segment.last_seq - max(self._forgotten, segment.first_seq - 1),
            },
        )
        self._process.meter.count(names.SPOOL_DAMAGED, reason="unreadable")
        self._segments.remove(segment)
        self._check_at = -math.inf
        self._count_anew()

    def _recover(self) -> None:
        found = sorted(
            (match["epoch"], int(match["first"]), path)
            for path in self._directory.iterdir()
            if (match := _NAME.fullmatch(path.name))
        )
        if not found:
            return
        # Nobody else writes here, so there is one epoch; of several, the one with most files is used.
        epochs = [epoch for epoch, _, _ in found]
        self.epoch = max(sorted(set(epochs)), key=epochs.count)
        for epoch, first_seq, path in found:
            if epoch == self.epoch:
                self._segments.append(self._recovered(path, first_seq))

    def _recovered(self, path: Path, first_seq: int) -> _Segment:
        content = path.read_bytes()
        segment = _Segment(path, first_seq, list(frames_in(content)))
        segment.size = len(content)
        whole = segment.spans[-1][1] if segment.spans else 0
        if whole < len(content):
            self._process.meter.count(names.SPOOL_DAMAGED, reason="torn")
            log.warning("spool_damaged", {names.PATH: path.name, names.BYTES: len(content) - whole})
        return segment

    def _count_anew(self) -> None:
        self._count = sum(
            max(0, segment.last_seq - max(self._forgotten, segment.first_seq - 1))
            for segment in self._segments
        )
        self._size = sum(segment.size for segment in self._segments)
        self._set_records(self._count)
        self._set_bytes(self._size)


def _sync(written: Sequence[Path], directory: Path) -> None:
    """Put *written* on the disk. The last of them is still being written, so it must be there."""
    for path in (*written, directory):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if path in written[:-1]:
                continue  # It has been shipped meanwhile.
            raise
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
