"""Listening sockets: an error in binding has a remedy, and only our own sockets are removed."""

import contextlib
import errno
import fcntl
import os
import socket
import stat
import struct
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from nemutator_common.addresses import Address, TcpAddress, UnixAddress
from nemutator_common.errors import ExitCode, OperatorError

LONGEST_PATH = 107
"""The most bytes of a unix socket's path: `sun_path` has 108, and the last is a zero."""

BACKLOG = 1024
"""The most connections that the kernel queues until we accept them."""

ATTEMPTS = 100
PAUSE_S = 0.01
"""The wait for another process of ours that binds in the same directory, which takes it less."""

_UCRED = struct.Struct("iII")


class ListeningSocket:
    """A bound, listening, non-blocking socket, and the file that belongs to it.

    *receive_bytes* is as in `Limits`; None means the default of the system.
    *alone* means that no other process of ours binds in that directory, so that it waits for none,
    and replaces whatever has the socket's name there. Use it where strangers may write, too.
    *shared* means that other processes of our user may listen on the same port: the kernel spreads connections.
    """

    def __init__(
        self,
        address: Address,
        *,
        mode: int,
        receive_bytes: int | None = None,
        alone: bool = False,
        shared: bool = False,
    ) -> None:
        if isinstance(address, UnixAddress):
            self.socket = _listen_unix(address, mode, alone=alone)
            self.address: Address = address
            self._inode = _inode(address.path)
        else:
            self.socket = _listen_tcp(address, receive_bytes, shared=shared)
            self.address = TcpAddress(*self.socket.getsockname()[:2])

    def close(self) -> None:
        """Stop listening. If another process has replaced our file since, its file stays."""
        self.socket.close()
        if isinstance(self.address, UnixAddress) and self.is_in_place():
            self.address.path.unlink(missing_ok=True)

    def is_in_place(self) -> bool:
        """Whether the file at our address is still our own; true for an address without a file."""
        return not isinstance(self.address, UnixAddress) or _inode(self.address.path) == self._inode


def remove_left(directory: Path, *, ended: Collection[int | None] = ()) -> None:
    """Remove the sockets in *directory* that nobody listens on, or only a process in *ended*, which may be on its way out.

    A process that was killed leaves its file behind. What cannot be looked at stays.
    """
    with contextlib.suppress(OSError), _alone_in(directory):
        for path in directory.iterdir():
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(path.lstat().st_mode) and _listener(path) in (None, *ended):
                    path.unlink()


def _listener(path: Path) -> int | None:
    """The process that listens at *path*; None when nobody does. OSError where that cannot be told."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            return None
        return _credentials(probe)[0]


def peer_of(connection: socket.socket) -> str:
    """The peer of *connection*, for a log line."""
    try:
        if connection.family != socket.AF_UNIX:
            return str(TcpAddress(*connection.getpeername()[:2]))
        pid, uid = _credentials(connection)
    except OSError:
        return "gone"
    return f"pid {pid} uid {uid}"


def source_of(connection: socket.socket) -> str:
    """The address of the peer of a TCP connection; empty when it is gone."""
    try:
        return str(connection.getpeername()[0])
    except OSError:
        return ""


def uid_of(connection: socket.socket) -> int | None:
    """The user of the peer of a unix socket; None for other sockets, and when the peer is gone."""
    try:
        return _credentials(connection)[1] if connection.family == socket.AF_UNIX else None
    except OSError:
        return None


def _credentials(connection: socket.socket) -> tuple[int, int]:
    given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid, uid, _ = _UCRED.unpack(given)
    return pid, uid


def _listen_tcp(address: TcpAddress, receive_bytes: int | None, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with _explained(address), _closed_on_failure(socket.socket(family)) as listening:
        # Without this option, connections of the previous process block the port for a minute.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if receive_bytes is not None:
            # This comes before it listens, because connections derive their window from it.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        listening.bind((address.host, address.port))
        listening.listen(BACKLOG)
    return listening


def _listen_unix(address: UnixAddress, mode: int, *, alone: bool) -> socket.socket:
    path = address.path
    length = len(os.fsencode(path))
    if length > LONGEST_PATH:
        raise OperatorError(
            f"cannot listen on {address}: the path has {length} bytes, {LONGEST_PATH} are possible",
            remedy="use a shorter directory",
            code=ExitCode.ADDRESS_IN_USE,
        )
    with (
        _explained(address),
        # A stranger could hold the lock, and could listen there as well.
        contextlib.nullcontext() if alone else _alone_in(path.parent),
        _closed_on_failure(socket.socket(socket.AF_UNIX)) as listening,
    ):
        if alone:
            path.unlink(missing_ok=True)
        else:
            _remove_stale(path)
        # The mode must be set before anybody can connect, so a chmod afterwards is too late.
        before = os.umask(0o777 & ~mode)
        try:
            listening.bind(os.fspath(path))
        finally:
            os.umask(before)
        listening.listen(BACKLOG)
    return listening


def _remove_stale(path: Path) -> None:
    """Remove the socket that a killed process left behind; raise when a process listens on it."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise FileExistsError(errno.EEXIST, "there is a file, and it is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        # EAGAIN means that a process listens, but its backlog is full.
        if probe.connect_ex(os.fspath(path)) != errno.ECONNREFUSED:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    path.unlink()


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Lock *directory* for our other processes: between bind and listen, a socket looks stale."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for last in (*[False] * (ATTEMPTS - 1), True):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if last:
                    raise
                time.sleep(PAUSE_S)
        yield
    finally:
        os.close(fd)


@contextlib.contextmanager
def _closed_on_failure(listening: socket.socket) -> Iterator[socket.socket]:
    try:
        listening.setblocking(False)
        yield listening
    except BaseException:
        listening.close()
        raise


@contextlib.contextmanager
def _explained(address: Address) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OperatorError(
            f"cannot listen on {address}: {error.strerror}",
            remedy=_remedy(address, error.errno),
            code=ExitCode.ADDRESS_IN_USE,
        ) from error


def _remedy(address: Address, number: int | None) -> str:
    match number:
        case errno.EADDRINUSE | errno.EAGAIN:
            return "stop the process that listens there, or choose another address"
        case errno.EACCES | errno.EPERM if isinstance(address, TcpAddress):
            return "choose a port from 1024 on, or grant CAP_NET_BIND_SERVICE"
        case errno.EADDRNOTAVAIL:
            return "choose an address that this machine has (`ip address` lists them)"
        case errno.EAFNOSUPPORT:
            return "choose an IPv4 address: this machine has no IPv6"
    if isinstance(address, UnixAddress):
        return f"make {address.path.parent} a directory that this user can write, or choose another"
    return "choose another address"


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
