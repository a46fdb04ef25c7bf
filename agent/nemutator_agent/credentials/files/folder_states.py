"""Whether the files in a pod's volume have to be written."""

import enum
from collections.abc import Mapping

from nemutator_common.secret import Secret


class FolderState(enum.Enum):
    EMPTY = "nothing was written"
    CURRENT = "the files have these values"
    OUTDATED = "they have others"
    PRIVATE = "they have others, and fewer users may read them than those that we can write"


def contents_of(values: Mapping[str, Secret]) -> dict[str, bytes]:
    """What files with *values* hold; JSON may have halves of characters, which are written as they are."""
    return {name: value.reveal().encode("utf-8", "surrogatepass") for name, value in values.items()}


def parts_of(contents: Mapping[str, bytes]) -> list[bytes]:
    """All that tells *contents* from others, for a digest."""
    return [part for name, content in sorted(contents.items()) for part in (name.encode(), content)]


def folder_state(
    found: tuple[Mapping[str, bytes], int] | None, wanted: Mapping[str, Secret], *, ours: int
) -> FolderState:
    """*found* are the contents of the files, and the mode of their directory; *ours* is the mode of those that
    we make."""
    if found is None:
        return FolderState.EMPTY
    contents, entered = found
    if contents == contents_of(wanted):
        return FolderState.CURRENT
    return FolderState.OUTDATED if entered & ours == ours else FolderState.PRIVATE
