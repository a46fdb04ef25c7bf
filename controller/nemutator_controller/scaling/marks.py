"""What our annotation of an autoscaler says: the minimum that its owner wrote, and the one that we have written: pure.

It is only believed on the object that it was written on, for as long as that has the minimum which it names: whoever
writes another minimum has taken the field over, and a copy of the object says nothing of the copy.
"""

import re
from dataclasses import dataclass

from nemutator_controller.scaling.model import MOST_REPLICAS

LONGEST = 512
_FIELD = re.compile(r"(base|raised|decision|by|uid)=([\w.-]{1,80})")
_FIELDS = frozenset({"base", "raised", "decision", "by", "uid"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedMark:
    base: int
    raised: int
    decision: str
    """The journal's record of the change."""
    by: str
    """The namespace of the installation that has made it, which alone takes it back."""
    uid: str
    """Of the autoscaler."""

    @property
    def text(self) -> str:
        return (
            f"base={self.base} raised={self.raised} decision={self.decision} by={self.by}"
            f" uid={self.uid}"
        )


def mark_of(text: str) -> RaisedMark | None:
    """None: it is none of ours, or somebody has changed it."""
    if not text or len(text) > LONGEST:
        return None
    words = text.split(" ")
    found = [_FIELD.fullmatch(word) for word in words]
    pairs = {one[1]: one[2] for one in found if one is not None}
    if len(words) != len(_FIELDS) or pairs.keys() != _FIELDS:
        return None
    base, raised = _replicas(pairs["base"]), _replicas(pairs["raised"])
    if base is None or raised is None or raised <= base:
        return None
    return RaisedMark(
        base=base,
        raised=raised,
        decision=pairs["decision"],
        by=pairs["by"],
        uid=pairs["uid"],
    )


def _replicas(text: str) -> int | None:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        return None
    number = int(text)
    return number if 0 <= number <= MOST_REPLICAS else None
