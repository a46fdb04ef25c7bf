"""The pages that machine code of arm64 works on: an address takes two instructions there, its page and the
place in it, which Go's assembler writes beside each other."""

import itertools
import struct
from collections.abc import Iterator

_ADRP, _ADRP_MASK = 0x90000000, 0x9F000000
_PAGE = 4096

LDR_WIDE, LDR_NARROW, ADD = 0xF9400000, 0xB9400000, 0x91000000
SHAPE = 0xFFC00000
"""The bits of an instruction that say what it does; the others are a place and two registers."""


def instructions(code: bytes) -> list[int]:
    return [one for (one,) in struct.iter_unpack("<I", code[: len(code) // 4 * 4])]


def in_pages(words: list[int], address: int) -> Iterator[tuple[int, int]]:
    """The numbers of the instructions of a code at *address* that name a place in a page, and the page."""
    for number, (first, second) in enumerate(itertools.pairwise(words)):
        # The register that ADRP sets must be the one that the next instruction starts from.
        if first & _ADRP_MASK != _ADRP or first & 0x1F != second >> 5 & 0x1F:
            continue
        pages = first >> 29 & 3 | (first >> 3 & 0x1FFFFC)
        pages -= (pages & 1 << 20) << 1
        yield number + 1, (address + 4 * number) // _PAGE * _PAGE + pages * _PAGE


def place(word: int) -> int:
    """The place that an instruction names, in units of what it loads or stores."""
    return word >> 10 & 0xFFF
