"""The processes of this machine that windows may look at, as the latest snapshot has them."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from nemutator_common.wire import Missing

from nemutator_agent.inspection.identities import ProcessId

Skipped = Literal["not_go", "young", "not_chosen", "over_cap"]
SKIPPED: tuple[Skipped, ...] = ("not_go", "young", "not_chosen", "over_cap")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedProcess:
    id: ProcessId
    is_go: bool
    version: str
    """Of Go, as its executable was found to be when the process was first seen; empty without one."""
    command: str
    """The kernel's name for it."""
    started_at: float
    """Seconds since the epoch."""
    age_s: float
    group: str
    """The path of its control group, as reports show it."""
    pod_uid: str | None
    container_id: str | None
    threads: int
    cpu_seconds: float
    group_memory_bytes: int | None


class NotReadError(Exception):
    """There is no reading of a process."""

    def __init__(self, reason: str, missing: Missing) -> None:
        super().__init__(missing.why)
        self.reason = reason
        """One of a few fixed words, for the metric; `gone`: the process has ended."""
        self.missing = missing


def phase(node: str, process: ProcessId) -> float:
    """Where in each interval a process is looked at, from 0 to 1: nodes and replicas do not beat together."""
    text = f"{node}\0{process.pid}\0{process.started_ticks}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") / (1 << 32)
