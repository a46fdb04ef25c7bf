"""Where Go's runtime counts its goroutines and garbage collections: found in its code, as the heap profile.

Functions that every program has work on these variables. Their distances from each other are the same from
Go 1.19 to 1.27; where a place cannot be told for sure there is none.
"""

from collections.abc import Iterable

from nemutator_agent.profiler.heap import arm64_operands
from nemutator_agent.profiler.heap.messages import PAUSES_TO_COLLECTIONS, CountPlaces
from nemutator_agent.profiler.heap.operands import Operands, compared, x86_64
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

_LONGEST_CODE = 16 << 10
_WORD = 8
_X86_64 = 1
"""The size of its shortest instruction, as Go's table tells processors apart; on arm64 it is 4."""

_LAST = 4112
"""From runtime.memstats.last_gc_unix to numgc."""

_MOST_KEPT = 32
"""runtime.gfput compares with it how many ended goroutines a processor keeps."""
_LARGEST_OFFSET = 1 << 16


def find(go: GoSymbols) -> CountPlaces | None:
    added, put = _of(go, "allgadd"), go.code_of("runtime.gfput", most=_LONGEST_CODE)
    ended, resized = _of(go, "gcMarkTermination"), _of(go, "procresize")
    begins, retaken = _of(go, "newproc1"), _of(go, "retake")
    # What ends a goroutine, by its newer name and the one before.
    ends = _of(go, "gdestroy") or _of(go, "goexit0")
    if not (added and put and ended and resized and begins and retaken and ends):
        return None
    free = _operands(go, put).added_to
    offsets = (compared if go.quantum == _X86_64 else arm64_operands.compared)(put[1], _MOST_KEPT)
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
    return None if found is None else _operands(go, found)


def _operands(go: GoSymbols, code: tuple[int, bytes]) -> Operands:
    read = x86_64 if go.quantum == _X86_64 else arm64_operands.operands
    return read(code[1], code[0])


def _slices(operands: Operands) -> frozenset[int]:
    """Where an address is followed by a length, of what may be slices."""
    return frozenset(one for one in operands.wide if one + _WORD in operands.wide)


def _only(found: Iterable[int]) -> int | None:
    several = set(found)
    return several.pop() if len(several) == 1 else None
