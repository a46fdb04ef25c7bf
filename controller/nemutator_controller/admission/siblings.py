"""Datagrams between processes of admission that share a port, in a directory that is theirs alone.

What one has sent before it answers is in the queues of the others before the API server can ask again.
"""

import asyncio
import contextlib
import logging
import secrets
import socket
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process

log = logging.getLogger(__name__)

SUFFIX = ".stamps"
LONGEST = 64 << 10
"""Bytes of a message. Pods whose edits take more are rare, and then only one process knows them."""

RECEIVED = 1 << 20
"""Bytes that may wait for us in the kernel, which takes few messages whatever they have: ten on many machines
(`net.unix.max_dgram_qlen`). So they are read as they come, and not only when we are asked."""

MOST_HEARD = 10_000
"""Messages that wait for us to be asked: more pods than are being made at once anywhere."""

PATIENCE = struct.pack("ll", 0, 2_000)
"""Two milliseconds, as the kernel takes it: for so long a message waits for room in the queue of another process,
which is just reading it. Who has taken longer is not waited for again within `DEAF_S`."""

DEAF_S = 1.0

AT_ONCE = 1_000
"""Messages that are read before others have their turn."""

LISTED_S = 1.0
"""How often the directory is listed although it seems to be as it was."""

MOST = 32
"""Siblings."""

Lost = Literal["full", "too_large", "refused"]


class Siblings:
    """A `StampLink`."""

    def __init__(self, directory: Path, process: Process) -> None:
        """Raises `OperatorError`."""
        self._process = process
        self._directory = directory
        self._own = directory / f"{secrets.token_hex(6)}{SUFFIX}"
        self._others: tuple[Path, ...] = ()
        self._listed: tuple[int, float] = (0, float("-inf"))
        self._heard: deque[bytes] = deque()
        self._deaf: dict[Path, float] = {}
        """By who did not take a message in time, until when nobody waits for it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, PATIENCE)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
            self._socket.bind(str(self._own))
            self._own.chmod(0o600)
        except OSError as error:
            self._socket.close()
            self._sending.close()
            raise OperatorError(
                f"cannot use {directory}: {error.strerror or error}",
                remedy="name a directory with a short path in admission.siblings, to which all of them may write",
                code=ExitCode.SETTINGS,
            ) from error

    def tell(self, message: bytes) -> None:
        if len(message) > LONGEST:
            self._lost("too_large")
            return
        now = self._process.clock.monotonic()
        for path in self._siblings():
            is_deaf = now < self._deaf.get(path, now)
            try:
                self._sending.sendto(message, socket.MSG_DONTWAIT if is_deaf else 0, str(path))
            except BlockingIOError:
                self._deaf = {one: until for one, until in self._deaf.items() if now < until}
                self._deaf[path] = now + DEAF_S
                self._lost("full")
            except ConnectionRefusedError:
                # Its process is gone, and nobody will bind that name again.
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                pass
            except OSError:
                self._lost("refused")

    def attend(self) -> None:
        """Read from now on what comes, as it comes."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket.fileno(), self._read)

    def heard(self) -> Iterator[bytes]:
        self._read()
        while self._heard:
            yield self._heard.popleft()

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        self._sending.close()
        with contextlib.suppress(OSError):
            self._own.unlink(missing_ok=True)

    def _read(self) -> None:
        # Who is asked by nobody needs to know the last ones alone.
        for _ in range(AT_ONCE):
            try:
                self._heard.append(self._socket.recv(LONGEST + 1))
            except OSError:
                return
            if len(self._heard) > MOST_HEARD:
                self._heard.popleft()

    def _siblings(self) -> tuple[Path, ...]:
        try:
            changed, now = self._directory.stat().st_mtime_ns, self._process.clock.monotonic()
            if changed != self._listed[0] or now - self._listed[1] > LISTED_S:
                found = (each for each in self._directory.iterdir() if each.suffix == SUFFIX)
                self._others = tuple(each for each in sorted(found) if each != self._own)[:MOST]
                self._listed = changed, now
        except OSError:
            self._lost("refused")
        return self._others

    def _lost(self, reason: Lost) -> None:
        self._process.meter.count(names.STAMPS_NOT_TOLD, reason=reason)
