"""The right of one brain of several to do something, as it was taken."""

from dataclasses import dataclass

LOST_AFTER_S = 10.0
"""Without a word of the holder. With the pause between two looks a dead brain is missed within 15 s."""


class ClaimLostError(Exception):
    """Another brain has the claim now, and nothing was written."""


@dataclass(frozen=True, slots=True)
class Claim:
    name: str
    holder: str
    generation: int
    """Each new holder gets the next one; a holder that started again is a new one, too."""
