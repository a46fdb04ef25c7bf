"""The ways in which one secret is written as a path of Vault."""

from collections.abc import Sequence

LONGEST = 1024
"""Characters, as many as agents take."""

MOST_SEGMENTS = 64

_DATA = "data"
"""What the API of KV version 2 has between the mount and the name, and references have not."""


def spellings(path: str) -> Sequence[str] | None:
    """*path* and those that mean the same document of KV version 2; None: nobody can read a path like this.

    Where the mount ends only Vault knows, so `data` may stand behind each of the segments.
    """
    segments = path.strip("/").split("/")
    if len(path) > LONGEST or len(segments) > MOST_SEGMENTS or not all(segments):
        return None
    places = range(1, len(segments))
    longer = [[*segments[:at], _DATA, *segments[at:]] for at in places]
    shorter = [[*segments[:at], *segments[at + 1 :]] for at in places[:-1] if segments[at] == _DATA]
    return list(dict.fromkeys("/".join(each) for each in (segments, *longer, *shorter)))
