"""How often the CPU that a container requests is changed in 24 hours, where it follows use by the hour: pure.

Replay and what is done to pods that run count alike.
"""

MOST_CHANGES, MOST_WITH_RISES = 4, 6
"""After four nothing is lowered, and two rises may still come: in replay a request that could not rise any more missed several
times as much."""


def may_change(changed: int, *, rises: bool) -> bool:
    """Once more, after so many changes in 24 hours."""
    return changed < (MOST_WITH_RISES if rises else MOST_CHANGES)
