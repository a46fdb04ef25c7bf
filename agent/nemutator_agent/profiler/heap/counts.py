"""What Go's runtime counts, read from the memory of a process, which may be forged.

Goroutines are counted as runtime.NumGoroutine does: all that there ever were,
less those that have ended and are kept for reuse, less its own.
"""

from nemutator_agent.profiler.heap.buckets import ForgedError
from nemutator_agent.profiler.heap.memory import Memory
from nemutator_agent.profiler.heap.messages import (
    LARGEST_COUNTED,
    PAUSES_TO_COLLECTIONS,
    CountAnswer,
    CountPlaces,
)

MOST_PROCESSORS = 1024
"""GOMAXPROCS is at most that."""
_WORD = 8


def read(memory: Memory, places: CountPlaces) -> CountAnswer:
    """Raises ForgedError, UnmappedError, TooMuchError."""
    ever = memory.word(places.goroutines + _WORD)
    ended = sum(memory.half(one) for one in places.free) + _kept(memory, places)
    goroutines = ever - ended - memory.half(places.system)
    pauses_ns = memory.word(places.collections - PAUSES_TO_COLLECTIONS)
    if ever >= LARGEST_COUNTED or pauses_ns >= LARGEST_COUNTED or goroutines > ever:
        raise ForgedError("expected counts that a process can have")
    # All of them change while they are read. At least one goroutine is there.
    return CountAnswer(
        goroutines=max(goroutines, 1),
        collections=memory.half(places.collections),
        pauses_ns=pauses_ns,
    )


def _kept(memory: Memory, places: CountPlaces) -> int:
    """Goroutines that have ended, and which processors keep."""
    first, count = memory.words(places.processors, 2)
    if not 0 < count <= MOST_PROCESSORS:
        raise ForgedError("expected as many processors as Go uses")
    kept = 0
    for number, processor in enumerate(memory.words(first, count)):
        # The first field of each is its number.
        if memory.half(processor) != number:
            raise ForgedError("expected the processors in their order")
        kept += memory.half(processor + places.free_of_processor)
    return kept
