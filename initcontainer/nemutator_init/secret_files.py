"""The files of a pod's secrets, in its volume."""

import os
from collections.abc import Mapping
from pathlib import Path

from nemutator_common.projected_files import project, projected


def write(folder: Path, values: Mapping[str, bytes], *, mode: int) -> None:
    """Replace what is in *folder* by *values*. Raises OSError, and then nothing has changed.

    Files that the agent has replaced are root's, and in this folder only who made one replaces it: after
    a restart of the pod's sandbox they are right as they are.
    """
    folder.mkdir(exist_ok=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            project(fd, values, mode=mode)
        except PermissionError:
            found = projected(fd, values, most=max(map(len, values.values()), default=0))
            if found is None or found[0] != values:
                raise
    finally:
        os.close(fd)
