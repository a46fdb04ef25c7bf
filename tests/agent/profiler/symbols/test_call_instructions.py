import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.call_instructions import (
    ARM64,
    X86_64,
    CallInstruction,
    call_before,
    jumps,
    jumps_by_pointer,
)

BY_POINTER = CallInstruction(None, by_pointer=True)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("e8 10 00 00 00", CallInstruction(0x10, by_pointer=False)),
        ("90 e8 fb ff ff ff", CallInstruction(-5, by_pointer=False)),
        ("ff d0", BY_POINTER),
        ("41 ff d4", BY_POINTER),
        ("3e ff d0", BY_POINTER),
        ("ff 10", BY_POINTER),
        ("ff 14 24", BY_POINTER),
        ("ff 50 08", BY_POINTER),
        ("41 ff 54 24 18", BY_POINTER),
        ("ff 15 01 02 03 04", BY_POINTER),
        ("ff 90 88 00 00 00", BY_POINTER),
        ("ff 94 24 88 00 00 00", BY_POINTER),
        ("ff 14 c5 00 10 40 00", BY_POINTER),
        # A call by distance whose last bytes could be read as one by a pointer, too.
        ("e8 00 00 ff d0", CallInstruction(-0x2F010000, by_pointer=True)),
        ("90", None),
        ("ff", None),
        ("ff c0", None),
        ("ff 20", None),
        ("ff e0", None),
        ("ff d0 90", None),
        ("e9 10 00 00 00", None),
        ("eb 05", None),
        ("", None),
    ],
)
def test_calls_of_x86_64(code: str, call: CallInstruction | None) -> None:
    assert call_before(bytes.fromhex(code), X86_64) == call


@pytest.mark.parametrize(
    ("word", "call"),
    [
        (0x94000004, CallInstruction(12, by_pointer=False)),
        (0x97FFFFFF, CallInstruction(-8, by_pointer=False)),
        (0xD63F0100, BY_POINTER),
        (0xD73F0910, BY_POINTER),
        (0x14000004, None),
        (0xD61F0100, None),
        (0xD503201F, None),
    ],
)
def test_calls_of_arm64(word: int, call: CallInstruction | None) -> None:
    assert call_before(word.to_bytes(4, "little"), ARM64) == call


@pytest.mark.parametrize(
    ("code", "to"),
    [
        ("e9 03 00 00 00", 8),
        ("90 eb fd", 0),
        ("0f 84 0a 00 00 00", 16),
        ("48 89 d8 e9 f8 ff ff ff", 0),
    ],
)
def test_jumps_of_x86_64(code: str, to: int) -> None:
    assert to in jumps(bytes.fromhex(code), X86_64)


def test_jumps_of_arm64() -> None:
    words = (0xD503201F, 0x14000003, 0x17FFFFFE, 0x54000060)
    code = b"".join(word.to_bytes(4, "little") for word in words)
    assert list(jumps(code, ARM64)) == [16, 0, 24]


def test_jumps_to_what_a_register_holds() -> None:
    assert jumps_by_pointer(bytes.fromhex("48 89 fa ff e7"), X86_64)
    assert not jumps_by_pointer(bytes.fromhex("ff d7 ff 24 c5 00 10 40 00"), X86_64)
    assert jumps_by_pointer((0xD61F0060).to_bytes(4, "little"), ARM64)
    assert not jumps_by_pointer((0xD65F03C0).to_bytes(4, "little"), ARM64)
    assert not jumps_by_pointer(bytes.fromhex("ff e7 1f d6"), 0)


@given(st.binary(max_size=64), st.sampled_from([X86_64, ARM64, 0, 3]))
def test_any_bytes_have_an_answer(code: bytes, machine: int) -> None:
    found = call_before(code, machine)
    assert found is None or found.by_pointer or found.distance is not None
    assert len(list(jumps(code, machine))) <= 18 * len(code)
    assert jumps_by_pointer(code, machine) in (True, False)
    if machine not in (X86_64, ARM64):
        assert found is None
