"""What is known of a workload over time, and what is said of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nemutator_common.windows import SymbolFrame

from nemutator_controller.ageing.trends import SeriesPoint

Verdict = Literal["leak", "drift", "hot spot grew", "steady", "cannot tell"]

State = Literal["firm", "provisional"]

LoadFigure = Literal["allocations", "CPU time"]
"""By what is known how much a process had to do, where nobody counts its requests."""


@dataclass(frozen=True, slots=True, order=True)
class AgedWorkload:
    """One program in the containers of one workload; off clusters, in the groups of one name."""

    namespace: str
    owner_kind: str
    owner: str
    container: str
    program: str

    @property
    def id(self) -> str:
        parts = (self.namespace, self.owner_kind, self.owner, self.container, self.program)
        text = "\0".join(parts)
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class ChangedWorkload:
    """A workload with a new reading, and the image that it runs."""

    workload: AgedWorkload
    image: str
    read_at: float
    """When its newest reading was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSource:
    """One process, from its start to its end: replicas of a workload are several."""

    id: str
    node: str
    pid: int
    started_at: float
    program: str
    image: str
    go_version: str
    group: str
    pod_uid: str | None
    container_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSeries:
    in_use_bytes: int
    in_use_objects: int
    allocated_bytes: int
    allocated_objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWindow:
    """One reading of one process as it is kept: what a verdict needs of it, and no more."""

    at: float
    heap_bytes: int | None = None
    """In use, of all sites."""
    collection: int | None = None
    rss_bytes: int | None = None
    goroutines: int | None = None
    threads: int | None = None
    open_files: int | None = None
    sites: Mapping[str, SiteSeries] | None = None
    samples: int = 0
    functions: Mapping[str, int] | None = None
    """Samples in each function and in what it has called."""
    missing: Mapping[str, str] | None = None
    allocated_objects: int | None = None
    """Since the process began, at all sites."""
    cpu_seconds: float | None = None
    """Since the process began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFinding:
    """A stack that allocates what stays."""

    id: str
    function: str
    file: str
    line: int
    verdict: Verdict
    rate_bytes_per_min: float
    in_use_bytes: int
    kept_share: float | None
    """Of what it has allocated since the first reading, the share that is still in use."""
    explained_share: float
    """Of the growth of the heap."""
    stack: tuple[SymbolFrame, ...] = ()
    """The innermost frame first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFinding:
    """A function whose share of CPU time has grown."""

    id: str
    function: str
    file: str
    line: int
    share_before: float
    share_now: float
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    node: str
    pid: int
    pod_uid: str | None
    age_s: float
    level_bytes: int
    rate_bytes_per_min: float
    readings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeingFinding:
    workload: AgedWorkload
    image: str
    go_version: str
    verdict: Verdict
    state: State
    measure: str
    """What the verdict is about: `heap`, `memory`, `goroutines`, `threads`, `open files` or `cpu`."""
    reason: str
    rate_per_min: float
    """Bytes, or pieces of what is measured, in a minute; of CPU time 0, and its levels are percent."""
    first_level: float
    last_level: float
    p: float
    readings: int
    span_s: float
    looked_at: float
    first_seen: float | None
    """When this verdict was first made of this image, where it is not `steady` or `cannot tell`."""
    sites: tuple[SiteFinding, ...] = ()
    functions: tuple[FunctionFinding, ...] = ()
    replicas: tuple[Replica, ...] = ()
    replicas_say: str = ""
    goroutines_per_min: float = 0.0
    """Where it is the memory that grows: how many more goroutines there are each minute."""
    load: LoadFigure | None = None
    """What the measure was compared with beside time."""
    points: tuple[SeriesPoint, ...] = ()
    """What a graph of the measure is drawn of."""
    told: bool = False
    """Whether its owner was told of this image by an Event."""

    @property
    def grows(self) -> bool:
        return self.verdict in ("leak", "drift", "hot spot grew")
