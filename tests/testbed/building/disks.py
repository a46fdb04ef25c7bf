"""Disks of guests: a folder as a file system, without mounting it."""

import os
from pathlib import Path

from tests.testbed.building import commands, unpacked


def make(folder: Path, disk: Path, size: str, *, log: Path) -> None:
    """Write what is in *folder* to *disk*, whose file has holes: what is not used costs nothing."""
    commands.run(
        ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, disk, size],
        log=log,
        environment={**os.environ, "PATH": unpacked.SYSTEM},
    )
