"""Keeps the garbage collector from holding up a process that has millions of objects.

Python examines all old objects again whenever a quarter more are there, which takes half a second for a million,
and whatever the process does waits. But what has survived two collections is nearly never garbage later: almost
all objects go when the last reference to them does, without the collector. So survivors are set aside, and are
examined again only while they are few, or when memory is in so many more pieces that some of them may be garbage.

New objects are examined by time as well. Python counts how many there are more than before, and what was set aside and
goes is taken off that number: where each new object takes the place of an old one, as with thousands of connections
whose requests come and go, it would examine the new ones next to never, and then a million of them at once.
"""

import gc
import sys
from collections.abc import Mapping

FEW = 600_000
"""Pieces of memory. To examine no more takes a twentieth of a second; code alone has 400 000 in the brain. They count, and not the
objects that the collector knows: it follows each of these to all that it refers to."""

GROWTH_OF_FEW = 1.25
"""Of the pieces until few are examined again: Python's own rule for old objects."""

GROWTH = 2.0
"""Until many are: what became garbage among them takes no more memory then than all that is in use."""

FEWEST = 7_000_000
"""Pieces of memory. A brain with 5 000 nodes has 8 500 000, and not twice as many as this: to meet them is no reason to look."""

YOUNG = 4_000
"""New objects until they are examined. As survivors are set aside, more often costs no more in all: each object is
examined twice at most."""

BEFORE_OLDER = 2
"""Examinations of new objects alone between two of those that have survived one, too. Python's own number is ten;
what is set aside makes no later one longer, so that these may come often and be short."""

EVERY_S = 0.1
"""How often new objects are examined, however few they seem to be. It takes some milliseconds where a thousand requests come
in a second, and next to nothing where none come."""


class OldObjects:
    """Sets aside what has survived two collections. It hears of each from the collector itself."""

    def __init__(self, *, few: int = FEW, growth: float = GROWTH, fewest: int = FEWEST) -> None:
        self._few = few
        self._growth = growth
        self._fewest = fewest
        self._pieces = 0
        """How many there were when all objects were examined last."""
        self._are_back = False
        """Whether nothing is aside until the next full collection."""
        self._examinations = 0
        """Of new objects, by time."""

    def watch(self) -> None:
        """Do so from now on."""
        self._pieces = sys.getallocatedblocks()
        gc.set_threshold(YOUNG, BEFORE_OLDER, gc.get_threshold()[2])
        gc.callbacks.append(self._collected)

    def examine_new(self) -> None:
        """To be called every `EVERY_S`."""
        self._examinations += 1
        if self._are_back:
            # Python itself would wait until thousands are more than a tenth of a second before.
            gc.collect()
        else:
            gc.collect(1 if self._examinations % (BEFORE_OLDER + 1) == 0 else 0)

    def _collected(self, phase: str, info: Mapping[str, int]) -> None:
        generation = info["generation"]
        if phase != "stop" or generation == 0:
            return
        if self._are_back:
            if generation == 1:
                return
            self._pieces = sys.getallocatedblocks()
            self._are_back = False
        elif self._is_due():
            # The next full collection examines them.
            gc.unfreeze()
            self._are_back = True
            return
        gc.freeze()

    def _is_due(self) -> bool:
        pieces = sys.getallocatedblocks()
        if pieces <= self._few:
            return pieces > GROWTH_OF_FEW * self._pieces
        return pieces > self._growth * max(self._pieces, self._fewest)
