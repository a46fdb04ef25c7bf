import struct

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.loads import Loads, arm64, x86_64

from tests.agent.profiler.heap.arm64_code import adrp

AT = 0x440500


def x86_load(address: int, variable: int, *, prefix: bytes = b"\x48") -> bytes:
    length = len(prefix) + 6
    return prefix + b"\x8b\x15" + struct.pack("<i", variable - address - length)


@given(st.integers(AT - (1 << 20), AT + (1 << 20)).map(lambda one: one & ~7))
def test_a_word_is_found_where_x86_loads_it(variable: int) -> None:
    assert x86_64(b"\x90" + x86_load(AT + 1, variable) + b"\xc3", AT).wide == {variable}


def test_half_a_word_is_found_with_and_without_a_prefix() -> None:
    for prefix in (b"", b"\x44"):
        found = x86_64(b"\x90" + x86_load(AT + 1, 0x610184, prefix=prefix), AT)
        assert found == Loads(frozenset(), frozenset({0x610184}))


def test_what_is_not_aligned_is_no_variable() -> None:
    assert x86_64(x86_load(AT, 0x610183), AT).wide == set()


@given(st.integers(AT - (1 << 30), AT + (1 << 30)).map(lambda one: one & ~7))
def test_a_word_is_found_where_arm64_loads_it(variable: int) -> None:
    if variable <= 0:
        return
    within = variable & 0xFFF
    code = struct.pack("<II", adrp(AT, variable), 0xF9400000 | (within >> 3) << 10 | 27 << 5)
    assert arm64(code, AT) == Loads(frozenset({variable}), frozenset())
    narrow = struct.pack("<II", adrp(AT, variable), 0xB9400000 | (within >> 2) << 10 | 27 << 5)
    assert arm64(narrow, AT) == Loads(frozenset(), frozenset({variable}))


def test_atomic_loads_of_arm64_take_the_address_from_a_register() -> None:
    variable = 0x610188
    head = struct.pack("<II", adrp(AT, variable), 0x91000000 | 0x188 << 10 | 27 << 5 | 3)
    wide = head + struct.pack("<II", 0xD503201F, 0xC8DFFC00 | 3 << 5)
    assert arm64(wide, AT) == Loads(frozenset({variable}), frozenset())
    narrow = head + struct.pack("<I", 0x88DFFC00 | 3 << 5)
    assert arm64(narrow, AT) == Loads(frozenset(), frozenset({variable}))
    other_register = head + struct.pack("<I", 0xC8DFFC00 | 4 << 5)
    assert arm64(other_register, AT) == Loads(frozenset(), frozenset())


def test_a_page_in_another_register_is_another_matter() -> None:
    code = struct.pack("<II", adrp(AT, 0x610180, register=3), 0xF9400000 | 4 << 5)
    assert arm64(code, AT).wide == set()


@given(st.binary(max_size=200), st.integers(0, (1 << 48) - 1))
def test_any_bytes_give_addresses_or_nothing(code: bytes, address: int) -> None:
    for decode in (x86_64, arm64):
        found = decode(code, address)
        assert all(0 < one < 1 << 48 and one % 8 == 0 for one in found.wide)
        assert all(0 < one < 1 << 48 and one % 4 == 0 for one in found.narrow)
