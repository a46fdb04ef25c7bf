"""bcc as the second engine: a program that is compiled on the node, by the headers of its kernel."""

import contextlib
import errno
import fcntl
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import IO, Literal

import nemutator_bpf

from nemutator_agent.profiler import bcc_source
from nemutator_agent.profiler.libbpf import Libbpf, LibbpfError, LoadedMaps

Kind = Literal["PERF_EVENT", "RAW_TRACEPOINT"]
"""As bcc names the types of programs."""

PYTHON = "usr/bin/python3"
_MODULE = "usr/lib/python3/dist-packages/bcc/__init__.py"
_KHEADERS = "sys/kernel/kheaders.tar.xz"

COMPILED_S = 300.0
"""It takes 2 to 3 s of CPU time; of a CPU that is emulated beside much other work, minutes."""

_MOST_MAPS = 16
_LINES_SHOWN = 4
_LONGEST_LINE = 200
_LONGEST_SAID = 64 << 10
_SET_PROGRAM = 0x40042408
"""PERF_EVENT_IOC_SET_BPF of include/uapi/linux/perf_event.h."""


def is_installed(root: Path = Path("/")) -> bool:
    """Whether Debian's (and Ubuntu's) python3-bpfcc is there."""
    return (root / _MODULE).is_file() and (root / PYTHON).exists()


def has_headers(release: str, root: Path = Path("/")) -> bool:
    """Whether bcc finds headers of the kernel *release*: its package's, or the kernel's own."""
    return (root / f"lib/modules/{release}/build/include").is_dir() or (root / _KHEADERS).is_file()


def load(
    libbpf: Libbpf,
    program: str,
    kind: Kind,
    *,
    maps: Sequence[str],
    wish: bytes,
    entries: Mapping[str, int],
) -> "CompiledProgram":
    """Compile *program* for the constants *wish*. Raises LibbpfError, with the compiler's last lines."""
    text = bcc_source.source(nemutator_bpf.sources(), program, wish=wish, entries=entries)
    script = resources.files(__package__) / "bcc_program.py"
    ours, theirs = socket.socketpair()
    # A pipe that nobody reads yet would hold a compiler that has much to say.
    with ours, tempfile.TemporaryFile() as said, resources.as_file(script) as file:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own script, the distribution's interpreter
                [f"/{PYTHON}", "-I", str(file), program, kind, *maps],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=said.fileno(),
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )
        try:
            # It reads all of the source before it compiles.
            ours.settimeout(COMPILED_S)
            ours.sendall(text.encode())
            ours.shutdown(socket.SHUT_WR)
            files = _received(ours)
        except TimeoutError:
            raise LibbpfError("bcc", errno.ETIMEDOUT, ()) from None
        finally:
            # What it was for is here, or will not come.
            _end(process)
        if len(files) != len(maps) + 1:
            _close(files)
            raise LibbpfError("bcc", errno.EINVAL, _last_lines(said))
    return CompiledProgram(libbpf, files[0], dict(zip(maps, files[1:], strict=True)))


def _received(ours: socket.socket) -> list[int]:
    """The files; none of a process that has ended without them."""
    with contextlib.suppress(ConnectionError):
        return socket.recv_fds(ours, 1, _MOST_MAPS + 1)[1]
    return []


def _last_lines(said: IO[bytes]) -> tuple[str, ...]:
    """Of what the compiler, or bcc, said: its errors, if it calls any so."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - _LONGEST_SAID))
    text = said.read(_LONGEST_SAID).decode("utf-8", "replace")
    lines = [line.strip()[:_LONGEST_LINE] for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return tuple((errors or lines)[-_LINES_SHOWN:])


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With the processes of its own: it may have headers unpacked."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


class CompiledProgram(LoadedMaps):
    """One program and its maps in the kernel, until `close`."""

    def __init__(self, libbpf: Libbpf, program: int, maps: Mapping[str, int]) -> None:
        super().__init__(libbpf)
        self._program = program
        self._maps = dict(maps)
        self._links: list[int] = []

    def attach_to_perf_event(self, _program: str, event: int) -> None:
        """Call the program at each tick of the open *event*, which belongs to this from then on."""
        try:
            fcntl.ioctl(event, _SET_PROGRAM, self._program)
        except OSError as error:
            raise LibbpfError("PERF_EVENT_IOC_SET_BPF", error.errno or errno.EINVAL, ()) from error
        self._links.append(event)

    def attach_to_tracepoint(self, _program: str, tracepoint: str) -> None:
        """Call the program wherever the kernel passes *tracepoint*."""
        self._links.append(
            self._libbpf.call("bpf_raw_tracepoint_open", tracepoint.encode(), self._program)
        )

    def detach(self) -> None:
        """End the program and close its events."""
        _close(self._links)
        self._links.clear()

    def program_fd(self, _program: str) -> int:
        return self._program

    def close(self) -> None:
        self.detach()
        _close([*self._maps.values(), *([self._program] if self._program >= 0 else [])])
        self._maps.clear()
        self._program = -1

    def _map(self, name: str) -> int:
        try:
            return self._maps[name]
        except KeyError:
            raise LibbpfError(f"map {name}", errno.ENOENT, ()) from None
