"""Whether the files in a pod's volume have to be written."""

import enum
from collections.abc import Mapping

from nemutator_common.secret import Secret

_FOR_ALL = 0o005


class FolderState(enum.Enum):
    EMPTY = "nothing was written"
    CURRENT = "the files have these values"
    OUTDATED = "they have others"
    PRIVATE = "they have others, and are for one user, to whom we cannot give files"


def contents_of(values: Mapping[str, Secret]) -> dict[str, bytes]:
    """What files with *values* hold; JSON may have halves of characters, which are written as they are."""
    return {name: value.reveal().encode("utf-8", "surrogatepass") for name, value in values.items()}


def folder_state(
    found: tuple[Mapping[str, bytes], int] | None, wanted: Mapping[str, Secret]
) -> FolderState:
    """*found* are the contents of the files, and the mode of their directory."""
    if found is None:
        return FolderState.EMPTY
    contents, mode = found
    if contents == contents_of(wanted):
        return FolderState.CURRENT
    return FolderState.OUTDATED if mode & _FOR_ALL == _FOR_ALL else FolderState.PRIVATE
