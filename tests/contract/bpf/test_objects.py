"""The objects that are committed, as the loader will find them."""

import struct

import nemutator_bpf
import pytest
from nemutator_agent.inspection.bounded_file import BoundedFile
from nemutator_agent.inspection.elf import Elf
from nemutator_agent.profiler.requirements import OLDEST_KERNEL, PROCESSORS

ELF_FOR_BPF = 247

HELPERS = {
    1: ("bpf_map_lookup_elem", (3, 19)),
    2: ("bpf_map_update_elem", (3, 19)),
    3: ("bpf_map_delete_elem", (3, 19)),
    5: ("bpf_ktime_get_ns", (4, 1)),
    14: ("bpf_get_current_pid_tgid", (4, 2)),
    35: ("bpf_get_current_task", (4, 8)),
    67: ("bpf_get_stack", (4, 18)),
    112: ("bpf_probe_read_user", (5, 5)),
    113: ("bpf_probe_read_kernel", (5, 5)),
}
"""By number, with the first kernel in which a program of perf events or tracepoints may call it."""

SECTIONS = {"sample": b"perf_event", "off_cpu": b"raw_tracepoint"}

GUARDED = {158: "bpf_get_current_task_btf", 175: "bpf_task_pt_regs"}
"""Younger ones: called only where the kernel's own list of helpers names the second one (5.15)."""

_CALL = 0x85
_INSTRUCTION = struct.Struct("<BBhi")


def helpers(content: bytes, section: bytes) -> set[int]:
    """The numbers of those that the program calls."""
    file = BoundedFile(
        lambda offset, size: content[offset : offset + size],
        budget_bytes=len(content),
        budget_reads=100,
    )
    sections = [Elf(file).section(name) for name in (section, b".text")]
    code = b"".join(content[one.offset : one.offset + one.size] for one in sections if one)
    instructions = _INSTRUCTION.iter_unpack(code)
    # Another register than 0 is a call of another function of the program.
    return {
        number for code, registers, _, number in instructions if (code, registers) == (_CALL, 0)
    }


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize("name", SECTIONS)
def test_each_machine_has_the_program_for_itself(name: str, machine: str) -> None:
    content = nemutator_bpf.program(name, machine)
    (made_for,) = struct.unpack_from("<H", content, 18)
    assert (content[:4], made_for) == (b"\x7fELF", ELF_FOR_BPF)
    for section in (b".BTF", b".BTF.ext", SECTIONS[name], b".maps", b"license"):
        assert section in content


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize("name", SECTIONS)
def test_no_program_calls_what_the_oldest_kernel_does_not_have(name: str, machine: str) -> None:
    content = nemutator_bpf.program(name, machine)
    called = helpers(content, SECTIONS[name])
    assert {1, 2, 14, 35, 67, 113} <= called <= HELPERS.keys() | GUARDED.keys()
    assert max(HELPERS[number][1] for number in called & HELPERS.keys()) <= OLDEST_KERNEL
    assert b"BPF_FUNC_task_pt_regs" in content


def test_the_state_of_a_task_is_read_by_both_of_its_names() -> None:
    content = nemutator_bpf.program("off_cpu", "x86_64")
    assert b"\0__state\0" in content
    assert b"\0task_struct___5_13\0" in content


@pytest.mark.parametrize("name", SECTIONS)
def test_the_machines_registers_are_not_the_same(name: str) -> None:
    assert nemutator_bpf.program(name, "x86_64") != nemutator_bpf.program(name, "aarch64")


def test_a_machine_that_nobody_compiled_for_has_none() -> None:
    with pytest.raises(FileNotFoundError):
        nemutator_bpf.program("sample", "pdp11")
