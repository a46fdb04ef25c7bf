"""The counters of a process from /proc, which the kernel keeps for it."""

import os
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from nemutator_common.windows import WindowCounters
from nemutator_common.wire import Missing

from nemutator_agent.windows.observed import ObservedProcess

MOST_FILES = 65_536
_LARGEST_STATUS = 64 << 10
_RSS_ANON = re.compile(rb"^RssAnon:\s*(\d{1,15}) kB$", re.MULTILINE)
_REMEDY = "run the agent as root, or with CAP_SYS_PTRACE"


class ProcCounters:
    """A `KernelCounters`. /proc is memory, so no device is waited for."""

    def __init__(
        self, started_ticks: Callable[[int], int | None], *, root: Path = Path("/")
    ) -> None:
        self._started_ticks = started_ticks
        self._proc = root / "proc"

    def read(self, process: ObservedProcess) -> tuple[WindowCounters, tuple[Missing, ...]]:
        of = self._proc / str(process.id.pid)
        rss_anon, files = _rss_anon(of / "status"), _files(of / "fd")
        if self._started_ticks(process.id.pid) != process.id.started_ticks:
            # It has ended, and another may have its number.
            rss_anon = files = None
        known = {
            "rss_anon_bytes": rss_anon,
            "open_files": files,
            "group_memory_bytes": process.group_memory_bytes,
        }
        counters = WindowCounters(**known, threads=process.threads, cpu_seconds=process.cpu_seconds)
        why = {
            "group_memory_bytes": (
                "no control group counts its memory",
                "let the memory controller count it",
            ),
        }
        missing = tuple(
            Missing(what, *why.get(what, ("it could not be read", _REMEDY)))
            for what, value in known.items()
            if value is None
        )
        return counters, missing


def _rss_anon(status: Path) -> int | None:
    try:
        with status.open("rb", buffering=0) as file:
            found = _RSS_ANON.search(file.read(_LARGEST_STATUS))
    except OSError:
        return None
    return int(found[1]) << 10 if found else None


def _files(folder: Path) -> int | None:
    """As many as there are, up to MOST_FILES: more are not counted, and not known."""
    try:
        with os.scandir(folder) as entries:
            count = sum(1 for _ in islice(entries, MOST_FILES + 1))
    except OSError:
        return None
    return count if count <= MOST_FILES else None
