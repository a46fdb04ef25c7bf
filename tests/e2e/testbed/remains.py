"""What is still there of something that worked in a folder of its own, while others work beside."""

import contextlib
import os
from pathlib import Path

from tests.testbed.running.leftovers import mounts_below


def processes(folder: Path, name: str = "") -> list[int]:
    """Whose root or working directory is below *folder*, gone or not, and has *name* in its path."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                places = [os.readlink(f"{entry.path}/{place}") for place in ("root", "cwd")]
                if any(Path(place).is_relative_to(folder) and name in place for place in places):
                    found.append(int(entry.name))
    return found


def mounts(folder: Path, name: str = "") -> list[str]:
    found = mounts_below(folder, Path("/proc/self/mountinfo").read_text())
    return [target for target in found if name in target]


def shared_memory() -> set[str]:
    """System V segments by key and number, and files of POSIX's."""
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {" ".join(line.split()[:2]) for line in segments} | set(os.listdir("/dev/shm"))
