"""Which variables a function of machine code loads, by the addresses in its instructions.

It is no disassembler: it looks for the few shapes in which Go's compiler loads a variable of the
package, and what looks like one by chance is for the caller to sort out.
"""

import re
import struct
from dataclasses import dataclass

from nemutator_agent.profiler.heap.arm64_pages import (
    ADD,
    LDR_NARROW,
    LDR_WIDE,
    SHAPE,
    in_pages,
    instructions,
    place,
)

_X86 = re.compile(rb"(?=\x8b[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....))", re.DOTALL)
"""MOV of a register from memory beside the instruction pointer: opcode, registers, distance."""
_X86_LENGTH = 6
_X86_WIDE = range(0x48, 0x50)
"""Prefixes by which the register has 64 bits."""

_LDAR_WIDE, _LDAR_NARROW = 0xC8DFFC00, 0x88DFFC00
"""Atomic loads, which take an address from a register: ADD has put it there."""
_NEAR = 8
"""How many instructions later it may be loaded."""

_ADDRESS_LIMIT = 1 << 48


@dataclass(frozen=True, slots=True)
class Loads:
    """Addresses of variables that are loaded."""

    wide: frozenset[int]
    """Those of 64 bits."""
    narrow: frozenset[int]
    """Those of 32 bits."""


def x86_64(code: bytes, address: int) -> Loads:
    """The loads of *code*, which lies at *address*."""
    wide: set[int] = set()
    narrow: set[int] = set()
    for found in _X86.finditer(code):
        at = found.start()
        (distance,) = struct.unpack("<i", found[1])
        variable = address + at + _X86_LENGTH + distance
        is_wide = at > 0 and code[at - 1] in _X86_WIDE
        (wide if is_wide else narrow).add(variable)
    return _within(wide, narrow)


def arm64(code: bytes, address: int) -> Loads:
    """The same."""
    words = instructions(code)
    wide: set[int] = set()
    narrow: set[int] = set()
    for number, page in in_pages(words, address):
        word = words[number]
        shape = word & SHAPE
        if shape == LDR_WIDE:
            wide.add(page + 8 * place(word))
        elif shape == LDR_NARROW:
            narrow.add(page + 4 * place(word))
        elif shape == ADD:
            variable = page + place(word)
            for later in words[number + 1 : number + 1 + _NEAR]:
                if later >> 5 & 0x1F != word & 0x1F:
                    continue
                # Without the two registers, and with a distance of 0.
                if later & ~0x3FF in (_LDAR_WIDE, LDR_WIDE):
                    wide.add(variable)
                elif later & ~0x3FF in (_LDAR_NARROW, LDR_NARROW):
                    narrow.add(variable)
    return _within(wide, narrow)


def _within(wide: set[int], narrow: set[int]) -> Loads:
    return Loads(
        frozenset(one for one in wide if 0 < one < _ADDRESS_LIMIT and one % 8 == 0),
        frozenset(one for one in narrow if 0 < one < _ADDRESS_LIMIT and one % 4 == 0),
    )
