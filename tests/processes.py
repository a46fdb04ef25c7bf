"""Which processes still run."""

from collections.abc import Iterable
from pathlib import Path


def alive(pids: Iterable[int]) -> set[int]:
    """Those that still run: what waits for somebody to read its exit code does not."""
    return {pid for pid in pids if (state := _state(pid)) is not None and state not in "ZX"}


def _state(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None
