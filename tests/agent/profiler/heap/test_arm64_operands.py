import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.arm64_operands import compared, operands

from tests.agent.profiler.heap import arm64_code as arm
from tests.agent.profiler.heap.arm64_code import adrp, at, beside, code

AT = 0x440500
PLACE = 0x610180


def test_words_are_found_where_they_are_loaded_and_stored() -> None:
    for shape in (arm.LDR, arm.STR):
        found = operands(code(adrp(AT, PLACE), at(shape, 0x180, size=8)), AT)
        assert found.all == found.wide == {PLACE}
        assert found.added_to == found.counted == frozenset()


def test_two_words_at_once_are_two() -> None:
    for shape in (arm.LDP, arm.STP):
        found = operands(
            code(adrp(AT, PLACE), at(arm.ADD, 0x180, register=27), beside(shape, 27)), AT
        )
        assert found.wide == {PLACE, PLACE + 8}
    elsewhere = code(adrp(AT, PLACE), at(arm.ADD, 0x180, register=3), beside(arm.LDP, 27))
    assert operands(elsewhere, AT).wide == frozenset()


def test_what_is_loaded_and_stored_is_added_to() -> None:
    load, store = at(arm.LDRSW, 0x180, size=4), at(arm.STR_W, 0x180, size=4)
    both = code(adrp(AT, PLACE), load, adrp(AT + 8, PLACE), store)
    assert operands(both, AT).added_to == {PLACE}
    for one in (load, store):
        found = operands(code(adrp(AT, PLACE), one), AT)
        assert found.all == {PLACE}
        assert found.added_to == frozenset()


@pytest.mark.parametrize("shape", [arm.LDADDAL_W, arm.LDAXR_W])
def test_what_is_counted_atomically_is_told(shape: int) -> None:
    head = adrp(AT, PLACE), at(arm.ADD, 0x180, register=3)
    assert operands(code(*head, beside(shape, 3)), AT).counted == {PLACE}
    assert operands(code(*head, beside(shape, 4)), AT).counted == frozenset()
    assert operands(code(*head, arm.NOP, beside(shape, 3)), AT).counted == frozenset()
    assert operands(code(*head), AT).all == {PLACE}


def test_a_count_of_64_bits_is_another() -> None:
    head = adrp(AT, PLACE), at(arm.ADD, 0x180, register=3)
    assert operands(code(*head, beside(arm.LDADDAL, 3)), AT).counted == frozenset()


def test_a_field_is_found_that_is_compared_with_a_number() -> None:
    load = at(arm.LDRSW, 0x9A8, base=0, register=5, size=4)
    compare = at(arm.CMP_W, 32, base=5, register=0)
    assert compared(code(load, arm.NOP, compare), 32) == {0x9A8}
    assert compared(code(load, compare), 64) == set()
    assert compared(code(load, at(arm.CMP_W, 32, base=6, register=0)), 32) == set()
    assert compared(code(load, *[arm.NOP] * 4, compare), 32) == set()
    # A word of the stack is no field of a structure.
    assert compared(code(at(arm.LDRSW, 0x9A8, base=31, register=5, size=4), compare), 32) == set()


@given(st.binary(max_size=200), st.integers(0, (1 << 48) - 1))
def test_any_bytes_give_operands_or_nothing(code: bytes, address: int) -> None:
    found = operands(code, address)
    assert found.wide | found.added_to | found.counted <= found.all
    compared(code, 32)
