from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.arm64_pages import in_pages, instructions, place

from tests.agent.profiler.heap.arm64_code import ADD, LDR, NOP, adrp, at, code

AT = 0x440500


@given(st.integers(AT + 4 - (1 << 32) + 4096, AT + (1 << 32) - 4096))
def test_a_page_is_told_wherever_it_is(variable: int) -> None:
    words = instructions(code(NOP, adrp(AT + 4, variable), at(LDR, 16, size=8)))
    assert list(in_pages(words, AT)) == [(2, variable & ~0xFFF)]
    assert place(words[2]) == 2


def test_the_next_instruction_must_start_from_it() -> None:
    other = code(adrp(AT, 0x610180, register=3), at(ADD, 0x180, base=4))
    late = code(adrp(AT, 0x610180), NOP, at(ADD, 0x180))
    alone = code(NOP, adrp(AT, 0x610180))
    for one in (other, late, alone):
        assert list(in_pages(instructions(one), AT)) == []


def test_half_an_instruction_is_none() -> None:
    assert instructions(code(NOP)[:3]) == []
    assert instructions(code(NOP, ADD)[:7]) == [NOP]
