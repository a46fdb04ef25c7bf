"""Why nobody can tell whether a container suffers, or whether others suffer from it, in words."""

from collections.abc import Sequence

from nemutator_controller.neighbours.co_movement import LEAST_MINUTES


def untold_victims(waits: Sequence[int], uses: Sequence[int], minutes: int) -> list[str]:
    """Of each row, of which *waits* and *uses* are known of so many of the *minutes*; empty: it can be told."""
    # The rows of a node are known for as long as it is, nearly all of them.
    said = {both: _why_not(*both, minutes) for both in set(zip(waits, uses, strict=True))}
    return [said[both] for both in zip(waits, uses, strict=True)]


def untold_aggressors(waits: Sequence[int], uses: Sequence[int]) -> list[str]:
    """The same of whether others suffer from it."""
    anybody = any(known >= LEAST_MINUTES for known in waits)
    nobody = "" if anybody else "nothing on its node tells how long it waits"
    said = {use: _unused(use) or nobody for use in set(uses)}
    return [said[use] for use in uses]


def _why_not(known: int, used: int, minutes: int) -> str:
    short = _unused(used)
    if short:
        return short
    if known == 0:
        return (
            "its node does not tell how long it waits: no pressure (PSI), no scheduler statistics"
        )
    if known < LEAST_MINUTES:
        return f"its waits are known of {known} minutes of the last {minutes}: {LEAST_MINUTES} are needed"
    return ""


def _unused(known: int) -> str:
    if known >= LEAST_MINUTES:
        return ""
    return f"it was seen in {known} minutes of the last hour: {LEAST_MINUTES} are needed"
