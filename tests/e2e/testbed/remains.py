"""What is still there of something that worked in a folder of its own, while others work beside."""

import contextlib
import os
from pathlib import Path

from tests.testbed.running.leftovers import mounts_below


def processes(folder: Path) -> list[int]:
    """Who has its root or its working directory below *folder*, be the folder gone or not."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                places = [os.readlink(f"{entry.path}/{place}") for place in ("root", "cwd")]
                if any(Path(place).is_relative_to(folder) for place in places):
                    found.append(int(entry.name))
    return found


def mounts(folder: Path) -> list[str]:
    return list(mounts_below(folder, Path("/proc/self/mountinfo").read_text()))


def shared_memory() -> set[str]:
    """System V segments by key and number, and files of POSIX's."""
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {" ".join(line.split()[:2]) for line in segments} | set(os.listdir("/dev/shm"))
