"""The process at the other end of a unix socket, held by a pidfd so that no other can take its place.

SO_PEERCRED gives the pid of the process that connected, which may be another process's once it has
ended. SO_PEERPIDFD (Linux 6.5) gives a pidfd of the very process. On older kernels `pidfd_open` is
called with the pid after accept, when it may be another process's already. Nothing there says when a
connection was made, but it is younger than the last moment at which its socket's queue was seen empty
(`listen_queues.py`). A process that had started before that moment had the pid when the connection was
made, so it made it. Of one that is younger this is not proven, and it gets nothing by its pid.

The first thread of a process may end before the others. Then the kernel shows neither its program nor its groups of
version 1, and those of another thread are read.

After everything is read, the pidfd shows whether the process still lives: if it does, it had the pid
all the time, and all that was read is about it.
"""

import errno
import os
import select
import socket
import struct
from collections.abc import Callable
from itertools import islice
from math import inf
from typing import NamedTuple

from nemutator_agent.identity.cgroup_lines import LONGEST_TEXT
from nemutator_agent.identity.facts import LONGEST_STAT, ProcessFacts, has_ended, started_ticks
from nemutator_agent.identity.failures import AttestationError, Step

SO_PEERPIDFD = 77
"""Python 3.11's socket module does not have it. Only sparc and parisc have another number."""

_CREDENTIALS = struct.Struct("iII")

_USUAL_CGROUP = 4 << 10

_MOST_THREADS = 64

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class HeldProcess(NamedTuple):
    pidfd: int
    by_kernel: bool
    """Whether the kernel itself says that this process made the connection."""


Hold = Callable[[socket.socket, int], HeldProcess]
"""Takes hold of a process by a connection and the pid of its peer."""


def by_connection(connection: socket.socket, pid: int) -> HeldProcess:
    """The process that connected; OSError ENOPROTOOPT before Linux 6.5."""
    return HeldProcess(connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD), by_kernel=True)


def by_number(connection: socket.socket, pid: int) -> HeldProcess:
    """The process that has the pid now."""
    return HeldProcess(os.pidfd_open(pid), by_kernel=False)


def names_peers() -> bool:
    """Whether this kernel gives a pidfd of the very process that connected."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            os.close(by_connection(ours, os.getpid()).pidfd)
        except OSError:
            return False
    return True


def by_best(connection: socket.socket, pid: int) -> HeldProcess:
    try:
        return by_connection(connection, pid)
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            raise
    return by_number(connection, pid)


class Peer:
    """The process that connected. `facts()` is called for each request; `close()` ends the hold."""

    def __init__(
        self, pid: int, uid: int, gid: int, *, held: HeldProcess, connected_after: float
    ) -> None:
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self._hold: int | None = held.pidfd
        self._by_kernel = held.by_kernel
        self._connected_after = connected_after
        self._ended = select.poll()
        self._ended.register(held.pidfd, select.POLLIN)
        self._started: int | None = None
        self._cgroup: int | None = None
        """An open file of it, which the kernel fills anew at each reading."""
        self._seen: tuple[bytes, str | None, bool] | None = None
        self._facts: ProcessFacts | None = None
        """Made of what was seen last."""

    @property
    def shown(self) -> str:
        return f"pid {self.pid} uid {self.uid}"

    def facts(self, *, program: bool = True) -> ProcessFacts:
        """What the kernel shows of the process now; AttestationError when it has ended."""
        proven = self._by_kernel or self._connected_itself()
        cgroup = self._read_cgroup()
        executable = self._executable() if program else None
        if not self._is_alive():
            raise AttestationError("alive", "the process that connected has ended")
        # All is read anew, and only what it means is kept: a process asks often, and moves seldom.
        seen = (cgroup, executable, proven)
        if self._facts is None or seen != self._seen:
            text = cgroup.decode("utf-8", "surrogateescape")
            self._facts = ProcessFacts(text, self._started, executable, proven=proven)
            self._seen = seen
        return self._facts

    def close(self) -> None:
        for fd in (self._hold, self._cgroup):
            if fd is not None:
                os.close(fd)
        self._hold = self._cgroup = None

    def _connected_itself(self) -> bool:
        """If it lives after this, it had the number all the time, and the start time is its own."""
        if self._started is None:
            self._started = started_ticks(self._read("stat", LONGEST_STAT, step="alive"))
        # The kernel counts whole ticks, so the process may have started as late as at the next.
        return (self._started + 1) / _TICKS_PER_S <= self._connected_after

    def _is_alive(self) -> bool:
        return self._hold is not None and not self._ended.poll(0)

    def _read_cgroup(self) -> bytes:
        if self._hold is None:
            raise AttestationError("alive", "the process that connected has ended")
        try:
            if self._cgroup is None:
                self._cgroup = os.open(f"/proc/{self.pid}/cgroup", os.O_RDONLY | os.O_CLOEXEC)
            content = os.pread(self._cgroup, _USUAL_CGROUP, 0)
        except (FileNotFoundError, ProcessLookupError):
            raise AttestationError("alive", "the process that connected has ended") from None
        except OSError as error:
            raise AttestationError("cgroup", f"/proc/PID/cgroup: {error.strerror}") from None
        if _is_nowhere(content) and (thread := self._other_thread()):
            return self._read(f"{thread}/cgroup", LONGEST_TEXT, step="cgroup")
        # What is longer has to be read from its beginning to its end, as one text.
        usual = len(content) < _USUAL_CGROUP
        return content if usual else self._read("cgroup", LONGEST_TEXT, step="cgroup")

    def _other_thread(self) -> str | None:
        """The folder of a thread that runs, where the first one has ended and the process has not."""
        try:
            if not has_ended(self._read("stat", LONGEST_STAT, step="alive")):
                return None
            for thread in islice(os.listdir(f"/proc/{self.pid}/task"), _MOST_THREADS):
                folder = f"task/{thread}"
                if not has_ended(self._read(f"{folder}/stat", LONGEST_STAT, step="alive")):
                    return folder
        except (OSError, AttestationError):
            pass
        return None

    def _read(self, name: str, most: int, *, step: Step) -> bytes:
        try:
            # Unbuffered, and in one piece if possible: /proc makes its text when it is read.
            with open(f"/proc/{self.pid}/{name}", "rb", buffering=0) as file:
                content = b""
                while len(content) <= most and (more := file.read(most + 1 - len(content))):
                    content += more
        except (FileNotFoundError, ProcessLookupError):
            raise AttestationError("alive", "the process that connected has ended") from None
        except OSError as error:
            raise AttestationError(step, f"/proc/PID/{name}: {error.strerror}") from None
        if len(content) > most:
            raise AttestationError(step, f"/proc/PID/{name} is longer than {most} bytes")
        return content

    def _executable(self) -> str | None:
        """Its path, if that is the same file for this process: in a mount namespace of their own,
        callers can mount a program on any path, and the link would show that path."""
        try:
            return _program(f"/proc/{self.pid}/exe")
        except FileNotFoundError:
            thread = self._other_thread()
        except (OSError, ValueError):
            return None
        try:
            return _program(f"/proc/{self.pid}/{thread}/exe") if thread else None
        except (OSError, ValueError):
            return None


def _program(link: str) -> str | None:
    path = os.readlink(link)
    return path if os.path.samestat(os.stat(link), os.stat(path)) else None


def _is_nowhere(cgroup: bytes) -> bool:
    """Whether all groups of version 1 are their hierarchies' roots, as those of a thread that has ended."""
    first = [line for line in cgroup.split(b"\n") if line and not line.startswith(b"0:")]
    return bool(first) and all(line.endswith(b":/") for line in first)


def open_peer(
    connection: socket.socket, *, hold: Hold = by_best, connected_after: float = -inf
) -> Peer:
    """Take hold of the process that connected; AttestationError when the kernel does not allow it.

    It has connected after this second since the machine's start, by the clock that CLOCK_BOOTTIME is.
    """
    try:
        given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError as error:
        raise AttestationError("credentials", f"no credentials: {error.strerror}") from None
    pid, uid, gid = _CREDENTIALS.unpack(given)
    if pid <= 0:
        raise AttestationError(
            "credentials",
            "the caller is in a pid namespace that the agent does not see; remedy: the agent's pod "
            "needs hostPID",
        )
    try:
        held = hold(connection, pid)
    except OSError as error:
        # It ended before this call; on some kernels, already before it was accepted.
        gone = error.errno in (errno.ESRCH, errno.ENODATA, errno.EINVAL)
        why = "the process that connected has ended" if gone else f"{error.strerror}"
        raise AttestationError("pidfd", why) from None
    return Peer(pid, uid, gid, held=held, connected_after=connected_after)
