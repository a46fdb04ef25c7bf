"""What a day that is foreseen says of the time from now to the end of the lead, and whether it may be believed now: pure."""

import math
from collections.abc import Sequence


def highest_ahead(line: Sequence[float], *, slot: int, ahead: int) -> float | None:
    """The most of *line* from *slot* to *ahead* slots later, around midnight; None: none of them is a number."""
    slots = len(line)
    coming = (line[(slot + step) % slots] for step in range(min(ahead, slots - 1) + 1))
    return max((one for one in coming if math.isfinite(one)), default=None)


def highest_upper(
    expected: Sequence[float], upper: Sequence[float], *, slot: int, ahead: int
) -> float | None:
    """The same of the upper line; where it has no end, what is expected counts."""
    line = [
        above if math.isfinite(above) else middle
        for above, middle in zip(upper, expected, strict=True)
    ]
    return highest_ahead(line, slot=slot, ahead=ahead)


def slots_ahead(lead_s: float, *, slot_s: float, most: int) -> int:
    """How many slots so long takes; a real second is one in a compressed day, too."""
    return max(1, min(math.ceil(lead_s / slot_s), most))
