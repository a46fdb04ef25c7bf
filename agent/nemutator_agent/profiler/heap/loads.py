"""Which variables a function of machine code loads, by the addresses in its instructions.

It is no disassembler: it looks for the few shapes in which Go's compiler loads a variable of the
package, and what looks like one by chance is for the caller to sort out.
"""

import itertools
import re
import struct
from dataclasses import dataclass

_X86 = re.compile(rb"(?=\x8b[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....))", re.DOTALL)
"""MOV of a register from memory beside the instruction pointer: opcode, registers, distance."""
_X86_LENGTH = 6
_X86_WIDE = range(0x48, 0x50)
"""Prefixes by which the register has 64 bits."""

_LDR_WIDE, _LDR_NARROW, _ADD = 0xF9400000, 0xB9400000, 0x91000000
_LDAR_WIDE, _LDAR_NARROW = 0xC8DFFC00, 0x88DFFC00
"""Atomic loads, which take an address from a register: ADD has put it there."""
_NEAR = 8
"""How many instructions later it may be loaded."""

_PAGE = 4096
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
    """The same. An address takes two instructions there: its page, and the place in it."""
    words = [one for (one,) in struct.iter_unpack("<I", code[: len(code) // 4 * 4])]
    wide: set[int] = set()
    narrow: set[int] = set()
    for number, (first, second) in enumerate(itertools.pairwise(words)):
        # ADRP, and the register that it sets must be the one that the next instruction starts from.
        if first & 0x9F000000 != 0x90000000 or first & 0x1F != second >> 5 & 0x1F:
            continue
        pages = first >> 29 & 3 | (first >> 3 & 0x1FFFFC)
        pages -= (pages & 1 << 20) << 1
        page = (address + 4 * number) // _PAGE * _PAGE + pages * _PAGE
        place, shape = second >> 10 & 0xFFF, second & 0xFFC00000
        if shape == _LDR_WIDE:
            wide.add(page + 8 * place)
        elif shape == _LDR_NARROW:
            narrow.add(page + 4 * place)
        elif shape == _ADD:
            for later in words[number + 2 : number + 2 + _NEAR]:
                if later >> 5 & 0x1F != second & 0x1F:
                    continue
                # Without the two registers, and with a distance of 0.
                if later & ~0x3FF in (_LDAR_WIDE, _LDR_WIDE):
                    wide.add(page + place)
                elif later & ~0x3FF in (_LDAR_NARROW, _LDR_NARROW):
                    narrow.add(page + place)
    return _within(wide, narrow)


def _within(wide: set[int], narrow: set[int]) -> Loads:
    return Loads(
        frozenset(one for one in wide if 0 < one < _ADDRESS_LIMIT and one % 8 == 0),
        frozenset(one for one in narrow if 0 < one < _ADDRESS_LIMIT and one % 4 == 0),
    )
