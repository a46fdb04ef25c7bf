"""Calls and jumps in code, by its bytes: only as much of x86-64 and arm64 as tells whether the
instruction before a return address is a call, and of what.

The code is a stranger's: any bytes have an answer, in a time that their number bounds.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

X86_64, ARM64 = 62, 183
"""`e_machine` of ELF."""

LONGEST_CALL = 7
"""Without its prefixes, which make no difference here."""

_WORD = struct.Struct("<I")
_DISTANCE = struct.Struct("<i")
_BYTE = struct.Struct("<b")
_JUMP_TO_REGISTER = re.compile(b"\xff[\xe0-\xe7]")


@dataclass(frozen=True, slots=True)
class CallInstruction:
    """What the last bytes may be: some bytes can be read in both ways."""

    distance: int | None
    """From the return address to the function that is called; None where it is not in the code."""
    by_pointer: bool


def call_before(code: bytes, machine: int) -> CallInstruction | None:
    """The call that ends where *code* ends, of whose bytes the last LONGEST_CALL are enough; None when
    there is none, or the machine is another one."""
    if machine == X86_64:
        distance = None
        if len(code) >= 5 and code[-5] == 0xE8:
            (distance,) = _DISTANCE.unpack(code[-4:])
        by_pointer = _by_pointer(code)
        return CallInstruction(distance, by_pointer) if by_pointer or distance is not None else None
    if machine == ARM64 and len(code) >= 4:
        (word,) = _WORD.unpack(code[-4:])
        if word >> 26 == 0b100101:
            return CallInstruction(_signed(word, bits=26) * 4 - 4, by_pointer=False)
        # BLR, and its variants that first check a signed pointer.
        if word & 0xFEFFF000 == 0xD63F0000:
            return CallInstruction(None, by_pointer=True)
    return None


def jumps(code: bytes, machine: int) -> Iterator[int]:
    """Where *code* may jump to, counted from its beginning. On x86-64 each byte may begin an
    instruction: some of these jumps are not there, and hardly one of those leads to a function."""
    if machine == X86_64:
        yield from _jumps_x86_64(code)
    elif machine == ARM64:
        for at in range(0, len(code) - 3, 4):
            (word,) = _WORD.unpack_from(code, at)
            if word >> 26 == 0b000101:
                yield at + _signed(word, bits=26) * 4
            elif word >> 24 == 0b01010100:
                yield at + _signed(word >> 5, bits=19) * 4


def jumps_by_pointer(code: bytes, machine: int) -> bool:
    """Whether *code* jumps to what a register holds, as Go's `systemstack` does when it need not switch."""
    if machine == X86_64:
        return _JUMP_TO_REGISTER.search(code) is not None
    words = (_WORD.unpack_from(code, at)[0] for at in range(0, len(code) - 3, 4))
    return machine == ARM64 and any(word & 0xFFFFFC1F == 0xD61F0000 for word in words)


def _by_pointer(code: bytes) -> bool:
    """FF /2: the second byte says how long the operand is."""
    for size in range(2, min(len(code), LONGEST_CALL) + 1):
        form = code[len(code) - size + 1]
        if code[-size] == 0xFF and form >> 3 & 7 == 2 and size == _size(form, code[-size:]):
            return True
    return False


def _size(form: int, code: bytes) -> int:
    mode, operand = form >> 6, form & 7
    size = 2
    if mode != 3 and operand == 4:
        size += 1
        if mode == 0 and len(code) > 2 and code[2] & 7 == 5:
            size += 4
    if mode == 2 or (mode == 0 and operand == 5):
        size += 4
    return size + 1 if mode == 1 else size


def _jumps_x86_64(code: bytes) -> Iterator[int]:
    for first, layout in ((0xE9, _DISTANCE), (0xEB, _BYTE), *((one, _DISTANCE) for one in _IF)):
        found = code.find(first)
        while found >= 0:
            end = found + 1 + layout.size
            if end <= len(code) and (first not in _IF or code[found - 1 : found] == b"\x0f"):
                (distance,) = layout.unpack_from(code, found + 1)
                yield end + distance
            found = code.find(first, found + 1)


_IF = range(0x80, 0x90)
"""After 0F: a jump under a condition."""


def _signed(word: int, *, bits: int) -> int:
    value = word & ((1 << bits) - 1)
    return value - (1 << bits) if value >> (bits - 1) else value
