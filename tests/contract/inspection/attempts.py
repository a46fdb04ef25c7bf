"""What a stranger's file would try once it has taken a worker over: a responder that tries each of it.

A question is JSON with the victim's pid, and the answer names the error of each attempt, or "done". None of
them stays: what is opened is closed, a child ends at once, a mount is not made where there is nothing.
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import socket
import struct
import sys
from collections.abc import Callable

_LIBC = ctypes.CDLL(None, use_errno=True)
_ON_ARM = platform.machine() == "aarch64"
_CAPSET = 91 if _ON_ARM else 126
_BPF = 280 if _ON_ARM else 321
_PERF_EVENT_OPEN = 241 if _ON_ARM else 298
_IO_URING_SETUP = 425
_PIDFD_OPEN = 434
_CLONE3 = 435
_MEMFD_CREATE = 279 if _ON_ARM else 319
_USERFAULTFD = 282 if _ON_ARM else 323
_KEYCTL = 219 if _ON_ARM else 250
_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17
_NEW_USER_NAMESPACE = 0x10000000
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38


def respond(question: bytes, file: int) -> bytes:
    victim: int = json.loads(question)["victim"]
    return json.dumps(
        {name: _result(attempt) for name, attempt in _attempts(victim, file)}
    ).encode()


def responder() -> Callable[[bytes, int], bytes]:
    return respond


def refuse_capset() -> None:
    """As the filter of a container may: the confinement cannot be completed."""
    instructions = (0x20, 0, 0, 0), (0x15, 0, 1, _CAPSET), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)
    program = b"".join(struct.pack("=HBBI", *one) for one in instructions)
    described = struct.pack("@HP", len(instructions), _address(program))
    _called(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _called(_LIBC.prctl(_PR_SET_SECCOMP, 2, described, 0, 0))


def _address(content: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value or 0


def _result(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def _attempts(victim: int, file: int) -> list[tuple[str, Callable[[], object]]]:
    return [
        ("open a file", lambda: os.close(os.open("/etc/passwd", os.O_RDONLY))),
        ("create a file", lambda: os.close(os.open("/tmp", os.O_TMPFILE | os.O_RDWR))),
        ("look at a path", lambda: os.stat("/etc/passwd")),
        ("look at the file", lambda: os.fstat(file)),
        ("list a directory", lambda: os.listdir("/proc")),
        ("read a link", lambda: os.readlink("/proc/self/exe")),
        ("the environment of another", lambda: os.close(os.open(f"/proc/{victim}/environ", 0))),
        ("the memory of another", lambda: os.close(os.open(f"/proc/{victim}/mem", 0))),
        ("write to the file", lambda: os.write(file, b"x")),
        ("a unix socket", lambda: socket.socket(socket.AF_UNIX).close()),
        ("an internet socket", lambda: socket.socket(socket.AF_INET).close()),
        ("connect", lambda: _called(_LIBC.connect(int(sys.argv[2]), b"\x01\x00/x\x00", 5))),
        ("kill", lambda: os.kill(victim, signal.SIGCONT)),
        ("hold a process", lambda: os.close(_syscall(_PIDFD_OPEN, victim, 0))),
        ("ptrace", lambda: _trace(victim)),
        ("process_vm_readv", lambda: _read_memory(victim)),
        ("fork", _fork),
        ("clone3", lambda: _syscall(_CLONE3, None, 0)),
        ("exec", lambda: os.execv("/", ["/"])),
        ("mount", lambda: _called(_LIBC.mount(b"none", b"/nowhere", b"tmpfs", 0, None))),
        ("bpf", lambda: os.close(_make_map())),
        ("perf_event_open", lambda: os.close(_perf_event())),
        ("io_uring", lambda: os.close(_io_uring())),
        ("userfaultfd", lambda: os.close(_syscall(_USERFAULTFD, 0))),
        ("keyctl", lambda: _syscall(_KEYCTL, 0, -3, 1)),
        ("memory as a file", lambda: os.close(_syscall(_MEMFD_CREATE, b"", 0))),
        ("memory that is code", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_EXEC).close()),
        ("a mapped file", lambda: mmap.mmap(file, 1, mmap.MAP_PRIVATE, mmap.PROT_READ).close()),
        ("another limit", lambda: _called(_LIBC.setrlimit(4, bytes(16)))),
        ("be dumped", lambda: _called(_LIBC.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0))),
        ("another user", lambda: os.setuid(0)),
        (
            "a new namespace",
            lambda: _called(_LIBC.unshare(_NEW_USER_NAMESPACE)),
        ),  # The last: it costs root its rights.
    ]


def _called(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _syscall(number: int, *arguments: object) -> int:
    words = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    return _called(_LIBC.syscall(ctypes.c_long(number), *words))


def _trace(victim: int) -> None:
    _called(_LIBC.ptrace(_PTRACE_ATTACH, victim, None, None))
    os.waitpid(victim, 0)
    _called(_LIBC.ptrace(_PTRACE_DETACH, victim, None, None))


def _read_memory(victim: int) -> None:
    """Of nothing: whether it may is asked first."""
    _called(_LIBC.process_vm_readv(victim, None, 0, None, 0, 0))


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _make_map() -> int:
    attribute = (ctypes.c_uint32 * 32)(2, 4, 8, 1)  # BPF_MAP_TYPE_ARRAY
    return _syscall(_BPF, 0, attribute, ctypes.sizeof(attribute))


def _perf_event() -> int:
    attribute = (ctypes.c_uint32 * 32)(1, 128)  # PERF_TYPE_SOFTWARE
    return _syscall(_PERF_EVENT_OPEN, attribute, 0, -1, -1, 0)


def _io_uring() -> int:
    return _syscall(_IO_URING_SETUP, 1, (ctypes.c_uint32 * 30)())
