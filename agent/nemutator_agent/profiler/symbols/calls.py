"""Whether code really makes the calls that stacks show; runs in the worker, on any file it is given."""

import struct
from collections.abc import Iterable, Mapping

from nemutator_common.profiles.grade import Verdict

from nemutator_agent.inspection.bounded_file import TooMuchError
from nemutator_agent.profiler.symbols import native
from nemutator_agent.profiler.symbols.call_instructions import (
    ARM64,
    LONGEST_CALL,
    X86_64,
    CallInstruction,
    call_before,
    jumps,
    jumps_by_pointer,
)
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import EXECUTABLE, DamagedError, Image

ELSEWHERE = -1
"""The place of a function that lies in another file."""

MOST_SEARCHED = 4096
"""Bytes of a function in which a jump to another one is looked for. Functions that only lead to another
one are short."""

_MACHINE_AT = 18

_Range = tuple[int, int]


def verdicts(
    image: Image, go: GoSymbols | None, calls: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], Verdict]:
    """About *calls*, each by two places in the file: the last byte before the return address, and where
    the called function was. Those for which the effort is not enough are left out."""
    (machine,) = struct.unpack(f"{image.elf.order}H", image.read(_MACHINE_AT, 2))
    if machine not in (X86_64, ARM64):
        return {}
    found = {call: _found(image, call, machine) for call in calls}
    asked = {address for one in found.values() for address in (one.target, one.callee) if address}
    known: dict[tuple[int, int], Verdict] = {}
    try:
        ranges = _ranges(image, go, sorted(asked))
        for call, one in found.items():
            known[call] = _verdict(image, one, ranges, machine)
    except TooMuchError:
        pass
    return known


class _Found:
    """One call as far as its own bytes tell; addresses are 0 where they are not known."""

    def __init__(self, call: CallInstruction | None, target: int, callee: int) -> None:
        self.call = call
        self.target = target
        self.callee = callee


def _found(image: Image, places: tuple[int, int], machine: int) -> _Found:
    caller, callee = places
    last = image.address_of(caller, flags=EXECUTABLE)
    begin = max(caller + 1 - LONGEST_CALL, 0)
    call = None if last is None else call_before(image.read(begin, caller + 1 - begin), machine)
    target = 0
    if last is not None and call is not None and call.distance is not None:
        target = max(last + 1 + call.distance, 0)
    where = None if callee == ELSEWHERE else image.address_of(callee, flags=EXECUTABLE)
    return _Found(call, target, where or 0)


def _verdict(image: Image, found: _Found, ranges: Mapping[int, _Range], machine: int) -> Verdict:
    if found.call is None:
        return "wrong"
    callee, target = ranges.get(found.callee), ranges.get(found.target)
    if found.call.by_pointer and (callee is None or not _within(found.target, callee)):
        return "possible"
    if callee is None or _within(found.target, callee):
        return "possible" if callee is None else "direct"
    if target is None:
        # A table of links to other files, or code without names.
        return "possible"
    begin, end = target
    try:
        code = image.read(image.offset_of(begin), min(end - begin, MOST_SEARCHED))
    except DamagedError:
        return "possible"
    image.effort.spend(len(code) // 8)
    if any(_within(begin + to, callee) for to in jumps(code, machine)):
        return "direct"
    return "possible" if jumps_by_pointer(code, machine) else "wrong"


def _within(address: int, place: _Range) -> bool:
    return place[0] <= address < place[1]


def _ranges(image: Image, go: GoSymbols | None, addresses: list[int]) -> dict[int, _Range]:
    """The function around each address, where there is one."""
    found: dict[int, _Range] = {}
    others = []
    for address in addresses:
        if go is None or not go.covers(address):
            others.append(address)
            continue
        try:
            place = go.range_at(address)
        except DamagedError:
            continue
        if place is not None:
            found[address] = place
    return found | native.ranges(image, others)
