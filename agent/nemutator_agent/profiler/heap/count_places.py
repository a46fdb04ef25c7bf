"""Where Go's runtime counts its goroutines and garbage collections: found in its code, as the heap profile.

Functions that every program has work on these variables. Their distances from each other are the same from
Go 1.19 to 1.27; where a place cannot be told for sure there is none.
"""

import re
import struct
from collections.abc import Iterable

from nemutator_agent.profiler.heap.messages import PAUSES_TO_COLLECTIONS, CountPlaces
from nemutator_agent.profiler.heap.operands import Operands, x86_64
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

_LONGEST_CODE = 16 << 10
_WORD = 8

_LAST = 4112
"""From runtime.memstats.last_gc_unix to numgc."""

_FREE_OF_A_PROCESSOR = re.compile(rb"\x83[\xb8-\xbf](....)\x20", re.DOTALL)
"""runtime.gfput compares how many ended goroutines a processor keeps with 32."""
_LARGEST_OFFSET = 1 << 16


def find(go: GoSymbols) -> CountPlaces | None:
    if go.quantum != 1:
        return None
    added, put = _of(go, "allgadd"), go.code_of("runtime.gfput", most=_LONGEST_CODE)
    ended, resized = _of(go, "gcMarkTermination"), _of(go, "procresize")
    begins, retaken = _of(go, "newproc1"), _of(go, "retake")
    # What ends a goroutine, by its newer name and the one before.
    ends = _of(go, "gdestroy") or _of(go, "goexit0")
    if not (added and put and ended and resized and begins and retaken and ends):
        return None
    free = x86_64(put[1], put[0]).added_to
    offsets = {struct.unpack("<I", one)[0] for one in _FREE_OF_A_PROCESSOR.findall(put[1])}
    everything = _only(one for one in added.wide if {one + _WORD, one + 2 * _WORD} <= added.wide)
    system = _only(begins.counted & ends.counted)
    processors = _only(_slices(retaken) & _slices(resized))
    collections = _only(
        one for one in ended.all if {one - PAUSES_TO_COLLECTIONS, one - _LAST} <= ended.all
    )
    own_free = _only(one for one in offsets if one < _LARGEST_OFFSET)
    if not (everything and system and processors and collections and own_free):
        return None
    # Newer versions count those with a stack and those without apart.
    if len(free) not in (1, 2):
        return None
    return CountPlaces(
        goroutines=everything,
        free=tuple(sorted(free)),
        system=system,
        processors=processors,
        free_of_processor=own_free,
        collections=collections,
    )


def _of(go: GoSymbols, name: str) -> Operands | None:
    found = go.code_of(f"runtime.{name}", most=_LONGEST_CODE)
    return x86_64(found[1], found[0]) if found is not None else None


def _slices(operands: Operands) -> frozenset[int]:
    """Where an address is followed by a length, of what may be slices."""
    return frozenset(one for one in operands.wide if one + _WORD in operands.wide)


def _only(found: Iterable[int]) -> int | None:
    several = set(found)
    return several.pop() if len(several) == 1 else None
