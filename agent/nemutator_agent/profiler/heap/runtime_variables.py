"""Where a Go program keeps its heap profile: found in its code, so that it may be stripped.

The runtime's functions have their names in Go's own table, which no stripping removes. A variable is
what all functions load that are known to use it; where more than one remains, the reader of the
memory finds out which is meant.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_agent.profiler.heap import loads
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

MOST_CANDIDATES = 16
_LONGEST_CODE = 16 << 10

_READERS = ("runtime.memProfileInternal", "runtime.MemProfile")
"""What `runtime.MemProfile` does, by its names since Go 1.23 and before: a program without it has a
runtime that records nothing."""
_PUBLISHER = "runtime.mProf_FlushLocked"
_RATE_USERS = ("runtime.profilealloc", "runtime.allocmcache", "runtime.nextSample")
_CYCLE_USERS = ("runtime.mProf_Malloc", "runtime.mProf_Free")


@dataclass(frozen=True, slots=True)
class RuntimeVariables:
    """Addresses at which each may be, as the program is linked."""

    buckets: tuple[int, ...]
    """The first site of the profile: runtime.mbuckets."""
    rates: tuple[int, ...]
    """How many bytes are allocated for each that is recorded: runtime.MemProfileRate."""
    cycles: tuple[int, ...]
    """How many garbage collections there were: runtime.mProfCycle."""
    is_linked: bool
    """Whether the program has the function that returns the profile."""


def find(go: GoSymbols) -> RuntimeVariables:
    readers = [_loads(go, name) for name in _READERS]
    reader = next((one for one in readers if one is not None), None)
    publisher = _loads(go, _PUBLISHER)
    rates = [one.wide for one in (_loads(go, name) for name in _RATE_USERS) if one and one.wide]
    cycles = [one.narrow for one in (_loads(go, name) for name in _CYCLE_USERS) if one]
    found = _common([*cycles, *([reader.narrow] if reader else [])])
    if not found and publisher is not None:
        # Until Go 1.18 it is not told the cycle, but reads it, and the reader does not.
        found = _common([*cycles, publisher.narrow])
    return RuntimeVariables(
        buckets=_common([one.wide for one in (reader, publisher) if one is not None]),
        rates=_common(rates),
        cycles=found,
        is_linked=reader is not None,
    )


def _loads(go: GoSymbols, name: str) -> loads.Loads | None:
    found = go.code_of(name, most=_LONGEST_CODE)
    if found is None:
        return None
    address, code = found
    return (loads.x86_64 if go.quantum == 1 else loads.arm64)(code, address)


def _common(sets: Iterable[frozenset[int]]) -> tuple[int, ...]:
    several = list(sets)
    if not several:
        return ()
    return tuple(sorted(frozenset.intersection(*several)))[:MOST_CANDIDATES]
