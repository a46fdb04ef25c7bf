"""The system calls that a worker may make, as a program by which the kernel decides about each (seccomp).

They were found by tracing the workers with Python 3.11 and glibc, and what musl does for the same with files,
messages and memory; the tests pass with Python 3.12 to 3.14, too. A worker waits for questions, answers, reads
files that it was handed, closes them and has memory: none of that needs a path, an address or the number of a
process. All else gets EPERM and not the end: a newer libc that tries another call first can then go on, and
whoever has taken the worker over gains nothing by trying. Memory is never code, and never a mapped file, whose
end another process can move.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

READS = "pread64"
"""Made most often, so it is looked for first."""

CALLS: Mapping[str, tuple[int, int]] = {
    READS: (17, 67),
    "recvmsg": (47, 212),
    "sendto": (44, 206),
    "close": (3, 57),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "clock_gettime": (228, 113),
    "getrandom": (318, 278),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "exit_group": (231, 94),
}
"""With any arguments; the numbers of x86-64 and of arm64."""

MMAP = (9, 222)
MPROTECT = (10, 226)
"""Allowed as far as their arguments are those of memory without code."""

MACHINES: Mapping[str, tuple[int, int]] = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""As uname names them: which number of a call is theirs, and what the kernel calls their ways of calling
(include/uapi/linux/audit.h). Others, such as that of 32-bit programs, have other numbers for everything."""

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000 | 1
"""EPERM (include/uapi/linux/seccomp.h)."""

_PROT_EXEC = 4
_MAP_ANONYMOUS = 0x20

# What the kernel shows of a call: struct seccomp_data, and of arguments their lower halves.
_NUMBER = 0
_ARCHITECTURE = 4
_PROTECTION = 16 + 8 * 2
_FLAGS = 16 + 8 * 3

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_ANY_SET = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K


@dataclass(frozen=True, slots=True)
class Instruction:
    """Of classic BPF: *skipped_if* and *skipped_if_not* are the instructions that a comparison jumps over."""

    code: int
    value: int
    skipped_if: int = 0
    skipped_if_not: int = 0


def worker_filter(machine: str) -> bytes | None:
    """The program for *machine*, as the kernel takes it; None where the numbers are not known."""
    if machine not in MACHINES:
        return None
    column, architecture = MACHINES[machine]
    program = [
        Instruction(_LOAD, _ARCHITECTURE),
        *_unless(_EQUAL, architecture, KILL_PROCESS),
        Instruction(_LOAD, _NUMBER),
    ]
    for numbers in CALLS.values():
        program += _when(numbers[column], [Instruction(_RETURN, ALLOW)])
    no_code = [Instruction(_LOAD, _PROTECTION), *_if(_ANY_SET, _PROT_EXEC, REFUSE)]
    no_file = [Instruction(_LOAD, _FLAGS), *_unless(_ANY_SET, _MAP_ANONYMOUS, REFUSE)]
    program += _when(MMAP[column], [*no_code, *no_file, Instruction(_RETURN, ALLOW)])
    program += _when(MPROTECT[column], [*no_code, Instruction(_RETURN, ALLOW)])
    program.append(Instruction(_RETURN, REFUSE))
    return b"".join(
        # struct sock_filter
        struct.pack("=HBBI", one.code, one.skipped_if, one.skipped_if_not, one.value)
        for one in program
    )


def _when(number: int, block: list[Instruction]) -> list[Instruction]:
    """*block* decides about this call."""
    return [Instruction(_EQUAL, number, skipped_if_not=len(block)), *block]


def _if(comparison: int, value: int, result: int) -> tuple[Instruction, Instruction]:
    return Instruction(comparison, value, skipped_if_not=1), Instruction(_RETURN, result)


def _unless(comparison: int, value: int, result: int) -> tuple[Instruction, Instruction]:
    return Instruction(comparison, value, skipped_if=1), Instruction(_RETURN, result)
