"""What /proc and /sys tell beside the files of a snapshot. All of it is memory: no device is waited for."""

import contextlib
import itertools
import os
from collections.abc import Sequence

from nemutator_agent.usage.cached_files import LARGEST, read_once
from nemutator_agent.usage.members import MOST_THREADS, MemberFiles
from nemutator_agent.usage.pod_networks import NamespaceFile

_MOST_FILES = 20_000
"""Of one process, where the kernel (before 6.2) lets us count entries: above it the number is not known."""


def member_files(root: str = "") -> MemberFiles:
    """*root* is for tests, as everywhere here."""
    proc = f"{root}/proc"

    def open_files(pid: int) -> int | None:
        with contextlib.suppress(OSError):
            directory = f"{proc}/{pid}/fd"
            # Since Linux 6.2 the size is the number of open files, and no right is needed.
            if known := os.stat(directory).st_size if not root else 0:
                return known
            with os.scandir(directory) as entries:
                number = sum(1 for _ in itertools.islice(entries, _MOST_FILES + 1))
            return number if number <= _MOST_FILES else None
        return None

    def threads(pid: int) -> Sequence[int] | None:
        with contextlib.suppress(OSError), os.scandir(f"{proc}/{pid}/task") as entries:
            few = itertools.islice(entries, MOST_THREADS + 1)
            return [int(one.name) for one in few if one.name.isdecimal()]
        return None

    def schedstat(pid: int, thread: int) -> bytes | None:
        return read_once(f"{proc}/{pid}/task/{thread}/schedstat")

    return MemberFiles(open_files, threads, schedstat)


def namespace_file(pid: int, root: str = "") -> NamespaceFile | None:
    """The interfaces of the network namespace of *pid*."""
    try:
        file = os.open(f"{root}/proc/{pid}/net/dev", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        inode = os.fstat(file).st_ino
        parts = []
        left = LARGEST
        # The kernel gives this file a page at a time.
        while left > 0 and (part := os.read(file, left)):
            parts.append(part)
            left -= len(part)
        return NamespaceFile(inode, b"".join(parts))
    except OSError:
        return None
    finally:
        os.close(file)


def whole_disks(root: str = "") -> frozenset[bytes]:
    """The disks with hardware, or a hypervisor, behind them, as major:minor."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{root}/sys/block"):
            if os.path.exists(f"{root}/sys/block/{name}/device"):
                found.add((read_once(f"{root}/sys/block/{name}/dev") or b"").strip())
    return frozenset(found - {b""})
