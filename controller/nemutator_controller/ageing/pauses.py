"""Nodes on which quiet windows have stopped, and why: of those, no verdict comes."""

from collections.abc import Sequence

from nemutator_common.windows import PAUSE_REPEATED_S, WindowPause

HOLDS_S = 3 * PAUSE_REPEATED_S
"""How long a pause counts that is not told again: its agent has ended, or is cut off."""


class Pauses:
    """In memory: agents tell them again."""

    def __init__(self) -> None:
        self._by_node: dict[tuple[str, bool], tuple[WindowPause, float]] = {}
        """Sampling alone may have stopped, and all windows beside that."""

    def take(self, pause: WindowPause, *, now: float) -> None:
        left = {key: one for key, one in self._by_node.items() if now - one[1] < HOLDS_S}
        if pause.paused:
            left[_key(pause)] = pause, now
        elif pause.reason:
            left.pop(_key(pause), None)
        else:
            left = {key: one for key, one in left.items() if key[0] != pause.node}
        # Never changed where it is: a thread of the database takes, and others look meanwhile.
        self._by_node = left

    def standing(self, *, now: float) -> Sequence[WindowPause]:
        """By the name of the node."""
        found = self._by_node
        return [found[key][0] for key in sorted(found) if now - found[key][1] < HOLDS_S]


def _key(pause: WindowPause) -> tuple[str, bool]:
    return pause.node, pause.reason == "sampling"
