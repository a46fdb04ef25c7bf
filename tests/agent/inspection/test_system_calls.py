"""The filter of system calls, run here as the kernel runs it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.system_calls import (
    ALLOW,
    CALLS,
    KILL_PROCESS,
    MACHINES,
    MMAP,
    MPROTECT,
    REFUSE,
    worker_filter,
)

machines = st.sampled_from(sorted(MACHINES))
arguments = st.lists(st.integers(0, (1 << 64) - 1), min_size=6, max_size=6)

READ, WRITE, EXEC = 1, 2, 4
PRIVATE, ANONYMOUS = 0x2, 0x20


def decided(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What a program of classic BPF returns for one call."""
    given = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    call = struct.pack("=IIQ6Q", number, architecture, 0, *given)
    at = loaded = 0
    while True:
        code, skipped_if, skipped_if_not, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", call, value)
        elif code == 0x06:
            return int(value)
        else:
            true = loaded == value if code == 0x15 else bool(loaded & value)
            assert code in (0x15, 0x45)
            at += skipped_if if true else skipped_if_not


def filter_of(machine: str) -> tuple[bytes, int, int]:
    """The program, which number of each call is the machine's, and how it calls."""
    program = worker_filter(machine)
    assert program is not None
    return program, *MACHINES[machine]


@given(machines, st.sampled_from(sorted(CALLS)), arguments)
def test_what_a_worker_needs_is_allowed(machine: str, call: str, given: list[int]) -> None:
    program, column, architecture = filter_of(machine)
    assert decided(program, architecture, CALLS[call][column], *given) == ALLOW


@given(machines, st.integers(0, (1 << 32) - 1) | st.integers(0, 500), arguments)
def test_all_else_is_refused(machine: str, number: int, given: list[int]) -> None:
    program, column, architecture = filter_of(machine)
    needed = {numbers[column] for numbers in (*CALLS.values(), MMAP, MPROTECT)}
    if number not in needed:
        assert decided(program, architecture, number, *given) == REFUSE


@given(machines, st.integers(0, (1 << 32) - 1), st.integers(0, 500))
def test_another_way_of_calling_is_the_end(machine: str, other: int, number: int) -> None:
    program, _, architecture = filter_of(machine)
    if other != architecture:
        assert decided(program, other, number) == KILL_PROCESS


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_memory_is_neither_code_nor_a_file(machine: str) -> None:
    program, column, architecture = filter_of(machine)

    def mapped(protection: int, flags: int) -> int:
        return decided(program, architecture, MMAP[column], 0, 4096, protection, flags)

    def protected(protection: int) -> int:
        return decided(program, architecture, MPROTECT[column], 0, 4096, protection)

    assert mapped(READ | WRITE, PRIVATE | ANONYMOUS) == protected(READ | WRITE) == ALLOW
    assert mapped(READ | EXEC, PRIVATE | ANONYMOUS) == protected(READ | EXEC) == REFUSE
    assert mapped(READ, PRIVATE) == REFUSE


def test_a_processor_whose_numbers_are_not_known_has_none() -> None:
    assert worker_filter("riscv64") is None
