"""The processes of this machine that windows may look at, as the latest snapshot has them."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from nemutator_common.windows import WindowProcess
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


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """What a process runs, by its executable."""

    name: str
    version: str
    """Of Go."""
    image: str
    """Which build it is, in hexadecimal digits; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class RuntimeCounts:
    """What Go's runtime counts of its process."""

    goroutines: int
    collections: int
    pause_s: float
    """For which garbage collections have stopped it, all together."""


class NotReadError(Exception):
    """There is no reading of a process."""

    def __init__(
        self,
        reason: str,
        missing: Missing,
        program: KnownProgram | None = None,
        counts: RuntimeCounts | Missing | None = None,
    ) -> None:
        super().__init__(missing.why)
        self.reason = reason
        """One of a few fixed words, for the metric; `gone`: the process has ended."""
        self.missing = missing
        self.program = program
        """None where it is not known either."""
        self.counts = counts
        """None where nothing of its memory was read."""


def named_by_kernel(observed: ObservedProcess) -> KnownProgram:
    """What is known of its program where the executable was not read."""
    return KnownProgram(observed.command, observed.version, "")


def window_process(observed: ObservedProcess, program: KnownProgram) -> WindowProcess:
    """As it travels."""
    return WindowProcess(
        pid=observed.id.pid,
        started_at=observed.started_at,
        program=program.name,
        image=program.image,
        go_version=program.version,
        group=observed.group,
        pod_uid=observed.pod_uid,
        container_id=observed.container_id,
    )


def phase(node: str, process: ProcessId) -> float:
    """Where in each interval a process is looked at, from 0 to 1: nodes and replicas do not beat together."""
    return _hashed(f"{node}\0{process.pid}\0{process.started_ticks}")


def node_phase(node: str) -> float:
    """The same of what is looked at for all processes of a node together."""
    return _hashed(node)


def _hashed(text: str) -> float:
    content = text.encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "big") / (1 << 32)
