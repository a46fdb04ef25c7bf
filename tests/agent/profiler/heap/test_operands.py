import struct

from nemutator_agent.profiler.heap.operands import compared, x86_64

AT = 0x401000


def beside(code: bytes, *, length: int, place: int, at: int = AT) -> bytes:
    """*code* with the distance of *place* from the end of an instruction of that length."""
    return code + struct.pack("<i", place - at - length)


def test_an_operand_is_found_with_its_size_and_what_is_done_to_it() -> None:
    load = beside(b"\x48\x8b\x05", length=7, place=0x500010)
    compare = beside(b"\x90\x39\x1d", length=7, place=0x500020, at=AT + 7)
    add = beside(b"\x90\x01\x0d", length=7, place=0x500030, at=AT + 14)
    found = x86_64(load + compare + add, AT)
    assert {0x500010, 0x500020, 0x500030} <= found.all
    assert found.wide == {0x500010}
    assert found.added_to == {0x500030}


def test_what_is_counted_atomically_is_loaded_before() -> None:
    load = beside(b"\x48\x8d\x15", length=7, place=0x500040)
    assert x86_64(load + b"\xf0\x0f\xc1\x0a", AT).counted == {0x500040}
    assert x86_64(load + b"\xf0\x48\x0f\xc1\x0a", AT).counted == frozenset()
    assert x86_64(load + b"\xe8\x00\x00\x00\x00\xf0\x0f\xc1\x0a", AT).counted == frozenset()


def test_code_that_ends_in_mid_instruction_has_no_operand() -> None:
    assert x86_64(b"\x48\x8b\x05\x01\x00", AT).all == frozenset()


def test_a_field_is_found_that_is_compared_with_a_number() -> None:
    compare = b"\x83\xb8" + struct.pack("<I", 0x9A8) + b"\x20"
    assert compared(b"\x90" + compare, 32) == {0x9A8}
    assert compared(compare, 64) == set()
