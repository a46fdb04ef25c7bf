"""Which places in memory a function of machine code works on, beside the instruction pointer (x86-64).

As `loads.py`, it is no disassembler: it looks for the shapes that Go's compiler makes, and who asks knows
how far apart the variables are that it looks for.
"""

import re
import struct
from dataclasses import dataclass

_OPERAND = re.compile(
    rb"(?=([\x01\x03\x29\x2b\x39\x3b\x89\x8b\x8d\xff])[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....))",
    re.DOTALL,
)
"""ADD, SUB, CMP, MOV, LEA and INC with one operand beside the instruction pointer: opcode, registers,
distance."""
_ADD_TO = 0x01
_LENGTH = 6
_WIDE = range(0x48, 0x50)
"""Prefixes by which the operand has 64 bits."""

_COUNTED = re.compile(
    rb"(?=[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](....)[^\xe8\xe9]{0,12}?\xf0\x0f\xc1)",
    re.DOTALL,
)
"""LEA of a variable, and soon after it LOCK XADD of 32 bits: how Go counts atomically."""
_LEA_LENGTH = 7

_COMPARED = re.compile(rb"\x83[\xb8-\xbf](....)(.)", re.DOTALL)
"""CMP of 32 bits in a structure, whose address is in a register, with a small number."""


@dataclass(frozen=True, slots=True)
class Operands:
    """Addresses of variables."""

    all: frozenset[int]
    wide: frozenset[int]
    """Those of 64 bits."""
    added_to: frozenset[int]
    """Those of 32 bits to which a register is added."""
    counted: frozenset[int]
    """Those of 32 bits that are counted up or down atomically."""


def x86_64(code: bytes, address: int) -> Operands:
    """The operands of *code*, which lies at *address*."""
    every: set[int] = set()
    wide: set[int] = set()
    added_to: set[int] = set()
    for found in _OPERAND.finditer(code):
        at = found.start()
        (distance,) = struct.unpack("<i", found[2])
        variable = address + at + _LENGTH + distance
        every.add(variable)
        if at > 0 and code[at - 1] in _WIDE:
            wide.add(variable)
        elif found[1][0] == _ADD_TO:
            added_to.add(variable)
    counted = {
        address + found.start() + _LEA_LENGTH + struct.unpack("<i", found[1])[0]
        for found in _COUNTED.finditer(code)
    }
    return Operands(*map(frozenset, (every, wide, added_to, counted)))


def compared(code: bytes, number: int) -> set[int]:
    """How far into structures those fields of 32 bits lie that are compared with *number*."""
    return {
        struct.unpack("<I", found[1])[0]
        for found in _COMPARED.finditer(code)
        if found[2][0] == number
    }
