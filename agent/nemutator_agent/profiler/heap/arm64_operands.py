"""Which places in memory a function of machine code works on (arm64), as `operands.py` says of x86-64."""

from nemutator_agent.profiler.heap.arm64_pages import (
    ADD,
    LDR_NARROW,
    LDR_WIDE,
    SHAPE,
    in_pages,
    instructions,
    place,
)
from nemutator_agent.profiler.heap.operands import Operands

_STR_WIDE, _STR_NARROW = 0xF9000000, 0xB9000000
_LDRSW = 0xB9800000
"""A load of 32 bits with their sign."""
_LDP, _STP = 0xA9400000, 0xA9000000
"""Two words at once: how a slice's address and length are loaded."""

_LDADD, _LDADD_MASK = 0xB8E00000, 0xFFE0FC00
_LDAXR, _LDAXR_MASK = 0x885FFC00, 0xFFFFFC00
"""Both are how Go counts 32 bits atomically: with the instruction for it, and on processors without."""

_CMP_NARROW, _CMP_MASK = 0x7100001F, 0xFFC0001F
_NEAR = 4
"""How many instructions before it is compared a field is loaded at most."""
_STACK = 31


def operands(code: bytes, address: int) -> Operands:
    """The operands of *code*, which lies at *address*."""
    words = instructions(code)
    every: set[int] = set()
    wide: set[int] = set()
    loaded: set[int] = set()
    stored: set[int] = set()
    counted: set[int] = set()
    for number, page in in_pages(words, address):
        word = words[number]
        shape = word & SHAPE
        if shape == ADD:
            variable = page + place(word)
            then = words[number + 1] if number + 1 < len(words) else 0
            if then >> 5 & 0x1F == word & 0x1F:
                if then & SHAPE in (_LDP, _STP) and not then >> 15 & 0x7F:
                    wide |= {variable, variable + 8}
                elif then & _LDADD_MASK == _LDADD or then & _LDAXR_MASK == _LDAXR:
                    counted.add(variable)
            every.add(variable)
        elif shape in (LDR_WIDE, _STR_WIDE):
            wide.add(page + 8 * place(word))
        elif shape in (LDR_NARROW, _LDRSW):
            loaded.add(page + 4 * place(word))
        elif shape == _STR_NARROW:
            stored.add(page + 4 * place(word))
    every |= wide | loaded | stored
    return Operands(*map(frozenset, (every, wide, loaded & stored, counted)))


def compared(code: bytes, number: int) -> set[int]:
    """How far into structures those fields of 32 bits lie that are compared with *number*."""
    words = instructions(code)
    found: set[int] = set()
    for at, word in enumerate(words):
        if word & _CMP_MASK != _CMP_NARROW or place(word) != number:
            continue
        register = word >> 5 & 0x1F
        for before in words[max(0, at - _NEAR) : at]:
            is_load = before & SHAPE in (LDR_NARROW, _LDRSW)
            if is_load and before & 0x1F == register and before >> 5 & 0x1F != _STACK:
                found.add(4 * place(before))
    return found
