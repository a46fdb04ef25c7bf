"""The objects that are committed, as the loader will find them."""

import struct

import nemutator_bpf
import pytest

ELF_FOR_BPF = 247


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_each_machine_has_the_program_for_itself(machine: str) -> None:
    content = nemutator_bpf.program("sample", machine)
    assert content is not None
    (made_for,) = struct.unpack_from("<H", content, 18)
    assert (content[:4], made_for) == (b"\x7fELF", ELF_FOR_BPF)
    for section in (b".BTF", b".BTF.ext", b"perf_event", b".maps", b"license"):
        assert section in content


def test_the_machines_registers_are_not_the_same() -> None:
    assert nemutator_bpf.program("sample", "x86_64") != nemutator_bpf.program("sample", "aarch64")


def test_a_machine_that_nobody_compiled_for_has_none() -> None:
    assert nemutator_bpf.program("sample", "pdp11") is None
