"""The files of a pod's secrets, in its volume."""

import os
from collections.abc import Mapping
from pathlib import Path

from nemutator_common.projected_files import project


def write(folder: Path, values: Mapping[str, bytes], *, mode: int) -> None:
    """Replace what is in *folder* by *values*. Raises OSError, and then nothing has changed."""
    folder.mkdir(exist_ok=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        project(fd, values, mode=mode)
    finally:
        os.close(fd)
