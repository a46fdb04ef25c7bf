"""Instructions of arm64, put together as its manual has them."""

import struct

LDR, LDR_W, LDRSW, STR, STR_W = 0xF9400000, 0xB9400000, 0xB9800000, 0xF9000000, 0xB9000000
ADD, LDP, STP = 0x91000000, 0xA9400000, 0xA9000000
LDADDAL, LDADDAL_W, LDAXR_W = 0xF8E00000, 0xB8E00000, 0x885FFC00
LDAR, LDAR_W = 0xC8DFFC00, 0x88DFFC00
CMP_W = 0x7100001F
NOP = 0xD503201F


def adrp(address: int, variable: int, register: int = 27) -> int:
    """Put the page of *variable* into a register, by code at *address*."""
    pages = (variable >> 12) - (address >> 12)
    return 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register


def at(shape: int, place: int, *, base: int = 27, register: int = 1, size: int = 1) -> int:
    """An instruction on the place *place* bytes behind the register *base*, in units of *size*."""
    return shape | place // size << 10 | base << 5 | register


def beside(shape: int, base: int, register: int = 1) -> int:
    """An instruction on the very place that *base* holds."""
    return shape | base << 5 | register


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)
