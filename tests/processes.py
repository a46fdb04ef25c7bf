"""What processes are and use, by psutil: no part of the product, so that it can witness against it."""

from collections.abc import Iterable

import psutil

ENDED = {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}


def alive(pids: Iterable[int]) -> set[int]:
    """Those that still run: what waits for somebody to read its exit code does not."""
    return {pid for pid in pids if _runs(pid)}


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in ENDED
    except psutil.NoSuchProcess:
        return False


def children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.NoSuchProcess:
        return []


def own_memory(pid: int) -> int:
    """Bytes that are in no file and shared with nobody: RssAnon, as the kernel calls it."""
    memory = psutil.Process(pid).memory_info()
    own: int = memory.rss - memory.shared
    return own


def cpu_seconds(pid: int) -> float:
    """Used so far, what its children have used not counted."""
    times = psutil.Process(pid).cpu_times()
    used: float = times.user + times.system
    return used
