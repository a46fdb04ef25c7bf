"""What priority class and scheduler have in common: a pod names one object of the cluster."""

import re
from collections.abc import Iterator
from typing import Annotated

import msgspec

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Path

NAME = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
"""Names of objects, as an API server requires them (RFC 1123)."""

LONGEST = 253

ObjectName = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]


class ChosenName(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Exactly one of both."""

    set: ObjectName | None = None
    """Replaces what is there."""
    add: ObjectName | None = None
    """Is written where nothing stands."""


def write(
    draft: Draft, path: Path, chosen: ChosenName, author: Author, *, nothing: str = ""
) -> None:
    """*nothing*: what an API server writes where a person has written nothing."""
    if chosen.set is not None:
        draft.set(path, chosen.set, author)
    elif chosen.add is not None and draft.value(path) in ((), (None,), ("",), (nothing,)):
        draft.set(path, chosen.add, author)


def faults(chosen: ChosenName) -> Iterator[str]:
    if (chosen.set is None) == (chosen.add is None):
        yield "set: expected exactly one of set, add"
    for field, name in (("set", chosen.set), ("add", chosen.add)):
        if name is not None and not is_name(name):
            yield f"{field}: {name[:80]!r}: expected small letters, digits, dots and dashes"


def is_name(text: str) -> bool:
    return len(text) <= LONGEST and NAME.fullmatch(text) is not None
