"""Datagrams between processes of admission that share a port, in a directory that is theirs alone.

What one has sent before it answers is in the queues of the others before the API server can ask again.
"""

import contextlib
import logging
import secrets
import socket
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
"""Bytes that may wait for us."""

AT_ONCE = 1_000
"""Messages that are read before a request; the others are read before the next one."""

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
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
            self._socket.bind(str(self._own))
            self._own.chmod(0o600)
        except OSError as error:
            self._socket.close()
            raise OperatorError(
                f"cannot use {directory}: {error.strerror or error}",
                remedy="name a directory with a short path in admission.siblings, to which all of them may write",
                code=ExitCode.SETTINGS,
            ) from error

    def tell(self, message: bytes) -> None:
        if len(message) > LONGEST:
            self._lost("too_large")
            return
        for path in self._siblings():
            try:
                self._socket.sendto(message, str(path))
            except BlockingIOError:
                self._lost("full")
            except ConnectionRefusedError:
                # Its process is gone, and nobody will bind that name again.
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                pass
            except OSError:
                self._lost("refused")

    def heard(self) -> Iterator[bytes]:
        for _ in range(AT_ONCE):
            try:
                yield self._socket.recv(LONGEST + 1)
            except OSError:
                return

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            self._own.unlink(missing_ok=True)

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
