"""Quiet windows on the wire: what an agent has read of processes that nobody asked for.

`observe` ships these records on the stream `windows` (`STREAMS_PATH` of `wire.py`), numbered as all
streams are; its writer is the node. Each is a JSON object whose field `record` says which of the three
shapes it has: `reading` (`WindowReading`), `symbols` (`WindowSymbols`) or `pause` (`WindowPause`). A
brain ignores fields that it does not know; `version` rises when a field changes its meaning.

A process is one (node, pid, started_at) while it runs one *image*: a restart and an exec begin a new
one. What is not known is None, and `missing` says why: it is never 0. Names are chosen by the programs,
and hostile; an agent sends them without control characters, and within the bounds below.

Ids are hashes of names, files and lines alone, so that replicas, nodes, restarts and windows share them.
The symbols of an id come before the first reading with it in an epoch of the agent, or in an earlier
record of that epoch; they come again from time to time, and whenever the agent had to drop records.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nemutator_common.wire import Missing

VERSION = 1

PODS_PATH = "/uplink/v1/window-pods"
"""POST of `WindowCandidates` returns the `WindowPods` that may be looked at now."""

MOST_CANDIDATES = 1_000

PAUSE_REPEATED_S = 600.0
"""How often a pause that goes on is told again, at least."""

MOST_SITES = 128
"""Of one reading: 64 with most bytes in use, and 64 with most growth since the reading before."""
MOST_FUNCTIONS = 128
"""Of one reading, those with most samples of their own first, and half of them by their total."""
MOST_SYMBOLS = 128
"""Sites and functions of one `WindowSymbols`, together."""
DEEPEST = 64
"""The most frames of a site: of a deeper one, the innermost."""
LONGEST_NAME = 256
"""Characters of a function's name, a file's, or of any other text."""


class SymbolFrame(NamedTuple):
    """One call of a stack: on the wire, a list of three."""

    function: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class SiteSymbol:
    id: str
    frames: tuple[SymbolFrame, ...]
    """The innermost first: the function that allocates is the first one."""


@dataclass(frozen=True, slots=True)
class FunctionSymbol:
    id: str
    function: str
    file: str = ""
    line: int = 0
    """Where the function begins; 0 when that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSymbols:
    """What ids stand for."""

    record: Literal["symbols"] = "symbols"
    version: int = VERSION
    node: str
    sites: tuple[SiteSymbol, ...] = ()
    functions: tuple[FunctionSymbol, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowProcess:
    """Whose window it is."""

    pid: int
    started_at: float
    """Seconds since the epoch; with the pid, an identity that is never used twice on a node."""
    program: str
    """The name of the executable's file, like `shop`."""
    image: str
    """The build id of the executable in hexadecimal digits, the same wherever this build runs; a hash of
    what its headers say where it has none. A deploy changes it. Empty where the executable could not be
    read: then *program* is the kernel's name for the process. Agents before CPU windows left it empty in
    each reading whose `heap` is None."""
    go_version: str
    """Like `go1.26.8`."""
    group: str
    """The path of its control group, as `Workload.path` in reports."""
    pod_uid: str | None = None
    container_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCounters:
    """Of the process at the moment of the reading. Those of Go's runtime are read with the heap: in CPU
    windows, and in readings of agents before they could, they are None without a reason in `missing`.
    `heap_live_bytes` is read by no agent yet."""

    rss_anon_bytes: int | None = None
    """Memory of its own that is in RAM, without files and shared memory."""
    group_memory_bytes: int | None = None
    """Charged to its control group, less the inactive page cache, as `Workload.memory_bytes`."""
    threads: int | None = None
    open_files: int | None = None
    goroutines: int | None = None
    """As runtime.NumGoroutine counts them."""
    gc_cycles: int | None = None
    """Collections that have ended since the process began: runtime.MemStats.NumGC."""
    gc_pause_share: float | None = None
    """The share of the process's life for which collections have stopped it: PauseTotalNs by age."""
    heap_live_bytes: int | None = None
    """Bytes that the last collection has marked as reachable, by the runtime's own count."""
    cpu_seconds: float | None = None
    """CPU time since the process began: load, where no traffic is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAmounts:
    """What one stack has allocated since the process began, estimated as runtime/pprof does."""

    site: str
    """The id of its `SiteSymbol`."""
    in_use_bytes: int
    in_use_objects: int
    allocated_bytes: int
    allocated_objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapWindow:
    """The heap profile of Go's runtime. Sums over `sites` and `rest` are those of the whole profile."""

    collection: int | None
    """As of which garbage collection: two readings with the same number hold the same amounts, and are
    one point. None where the number is not known."""
    rate: int
    """runtime.MemProfileRate: one byte in so many is recorded. Sites below it are noise."""
    sites: tuple[SiteAmounts, ...]
    """A site that is missing here is in `rest`: it is not gone."""
    rest: SiteAmounts
    """All other sites together; its `site` is empty."""
    rest_sites: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSamples:
    function: str
    """The id of its `FunctionSymbol`."""
    own: int
    """Samples in the function itself."""
    total: int
    """Samples in it or in what it has called; recursion counts once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuWindow:
    """The samples of this process in a window of the whole node. A process that did not run has 0.
    What the kernel does for a process counts for the function that has called it."""

    seconds: float
    hz: int
    samples: int
    """`own` of all `functions`, and `rest_own`, add up to it."""
    functions: tuple[FunctionSamples, ...]
    rest_own: int
    rest_functions: int
    lost_share: float
    """Of the samples of all processes in this window: 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReading:
    """One look at one process."""

    record: Literal["reading"] = "reading"
    version: int = VERSION
    node: str
    at: float
    """Seconds since the epoch."""
    age_s: float
    """Since the process began."""
    process: WindowProcess
    window: Literal["heap", "cpu"]
    """What was to be read: where it is None, `missing` has a reason under this word."""
    counters: WindowCounters
    heap: HeapWindow | None = None
    cpu: CpuWindow | None = None
    missing: tuple[Missing, ...] = ()
    """`what` is `heap`, `cpu`, or the name of a field of `counters`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPause:
    """Windows of this node have stopped, or go on. While they have stopped it comes again from time to
    time: a brain may forget one that does not."""

    record: Literal["pause"] = "pause"
    version: int = VERSION
    node: str
    at: float
    paused: bool
    reason: Literal["cpu", "memory", "sampling", ""] = ""
    """Whose budget would have been passed; `sampling`: the kernel does not let CPU be sampled, and only
    CPU windows have stopped. When they go on, what has ended; empty from agents before they knew: all."""
    why: str = ""
    """For people, with the figures."""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class WindowCandidates:
    """The pods of a node that windows would look at."""

    node: str
    uids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WindowPods:
    """Those that are chosen: a pod that is missing here may not be read."""

    uids: tuple[str, ...]


def site_id(frames: Iterable[SymbolFrame]) -> str:
    """The id of a stack: 16 hexadecimal digits."""
    return _digest("\0".join(f"{one.function}\1{one.file}\1{one.line}" for one in frames))


def function_id(function: str, file: str) -> str:
    """The id of a function. Its lines are left out: they move while the function stays."""
    return _digest(f"{function}\1{file}")


def _digest(text: str) -> str:
    content = text.encode(errors="surrogatepass")
    return hashlib.blake2b(content, digest_size=8).hexdigest()
