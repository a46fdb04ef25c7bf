"""The brain's nodes as typed values: raw JSON goes no further than this file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nemutator_ctl.answers import not_understood

NODES_PATH = "/api/v1/nodes"
TOPOLOGY_PATH = "/api/v1/topology"

RESOURCES = ("cpu", "memory", "io")
THROUGHPUT = ("disk_read", "disk_written", "network_received", "network_sent")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the agent of a node cannot see."""

    what: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A workload, or a process in it."""

    path: str
    name: str
    kind: str
    cpu_cores: float | None
    memory_bytes: int | None
    pressures: tuple[float | None, ...]
    """CPU, memory, I/O: percent of the last 10 s that some task waited."""
    cpu_is_summed: bool = False
    """No counter is behind it: it is the sum of processes that were seen."""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class ShownMachine:
    kernel: str
    cpus: int | None
    cpu_cores: float | None
    memory_bytes: int | None
    memory_used_bytes: int | None
    pressures: tuple[float | None, ...]
    """As in a `ShownRow`."""
    throughput: tuple[float | None, ...] = ()
    """Of disks read and written, of the network received and sent: bytes a second. Empty where it
    is not told."""


@dataclass(frozen=True, slots=True)
class ShownNode:
    name: str
    stale: bool
    age_s: float
    machine: ShownMachine
    namespaces: tuple[str, ...]
    """All that are there, whatever was asked for."""
    rows: tuple[ShownRow, ...]
    missing: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A node with its sums."""

    name: str
    stale: bool
    age_s: float
    machine: ShownMachine
    processes: int | None


def decode_list(document: object) -> tuple[NodeSummary, ...]:
    """The nodes in *document*, or an `OperatorError` when it is not a list of nodes."""
    try:
        return tuple(_listed(node) for node in _list(_mapping(document)["items"]))
    except (KeyError, TypeError, ValueError) as error:
        raise not_understood(f"not a list of nodes ({type(error).__name__})") from error


def decode(document: object) -> tuple[ShownNode, ...]:
    """The nodes in *document*, or an `OperatorError` when it is not a topology."""
    try:
        return tuple(_node(node) for node in _list(_mapping(document)["nodes"]))
    except (KeyError, TypeError, ValueError) as error:
        raise not_understood(f"not a topology ({type(error).__name__})") from error


def _node(raw: object) -> ShownNode:
    node = _mapping(raw)
    processes: dict[str, list[ShownRow]] = {}
    for each in map(_mapping, _list(node["processes"])):
        processes.setdefault(str(each["workload"]), []).append(_process(each))
    workloads = sorted(
        map(_workload, map(_mapping, _list(node["workloads"]))), key=lambda row: row.path.split("/")
    )
    rows = [row for w in workloads for row in (w, *processes.pop(w.path, ()))]
    rows += [row for left in processes.values() for row in left]
    return ShownNode(
        name=str(node["name"]),
        stale=bool(node["stale"]),
        age_s=_number(node["age_s"]) or 0.0,
        machine=_machine(_mapping(node["machine"])),
        namespaces=tuple(map(str, _list(node["namespaces"]))),
        rows=tuple(rows),
        missing=tuple(
            Fact(str(fact["what"]), str(fact["why"]), str(fact["remedy"]))
            for fact in map(_mapping, _list(node["missing"]))
        ),
    )


def _listed(raw: object) -> NodeSummary:
    node = _mapping(raw)
    sums = _mapping(node["sums"])
    waiting = _mapping(sums["waiting"])
    return NodeSummary(
        name=str(node["name"]),
        stale=bool(node["stale"]),
        age_s=_number(node["age_s"]) or 0.0,
        machine=_figures(sums, tuple(_number(waiting[what]) for what in RESOURCES)),
        processes=_whole(sums["processes"]),
    )


def _machine(raw: Mapping[str, object]) -> ShownMachine:
    moved = raw.get("throughput")
    shown = _figures(raw, _pressures(raw["pressures"]))
    if moved is None:
        return shown
    return replace(shown, throughput=tuple(_number(_mapping(moved)[what]) for what in THROUGHPUT))


def _figures(raw: Mapping[str, object], pressures: tuple[float | None, ...]) -> ShownMachine:
    return ShownMachine(
        kernel=str(raw["kernel"]),
        cpus=_whole(raw["cpus"]),
        cpu_cores=_number(raw["cpu_cores"]),
        memory_bytes=_whole(raw["memory_bytes"]),
        memory_used_bytes=_whole(raw["memory_used_bytes"]),
        pressures=pressures,
    )


def _workload(raw: Mapping[str, object]) -> ShownRow:
    return ShownRow(
        path=str(raw["path"]),
        name=str(raw["name"]),
        kind=str(raw["kind"]),
        cpu_cores=_number(raw["cpu_cores"]),
        memory_bytes=_whole(raw["memory_bytes"]),
        pressures=_pressures(raw["pressures"]),
        cpu_is_summed=bool(raw["cpu_is_summed"]),
    )


def _process(raw: Mapping[str, object]) -> ShownRow:
    version = raw["runtime_version"]
    # Go calls its versions go1.26.8, which beside the runtime's own name says it twice.
    known = (raw["runtime"], version.removeprefix("go") if isinstance(version, str) else version)
    return ShownRow(
        path=str(raw["workload"]),
        name=" ".join(str(raw[what]) for what in ("pid", "command", "script") if raw[what]),
        kind="process",
        cpu_cores=_number(raw["cpu_cores"]),
        memory_bytes=_whole(raw["memory_bytes"]),
        pressures=(None, None, None),
        runtime=" ".join(str(part) for part in known if part is not None),
    )


def _pressures(raw: object) -> tuple[float | None, ...]:
    resources = _mapping(raw)
    return tuple(_some_10s(resources.get(what)) for what in RESOURCES)


def _some_10s(raw: object) -> float | None:
    return None if raw is None else _number(_mapping(raw)["some_10s"])


def _mapping(raw: object) -> Mapping[str, object]:
    if not isinstance(raw, dict):
        raise TypeError(raw)
    return raw


def _list(raw: object) -> list[object]:
    if not isinstance(raw, list):
        raise TypeError(raw)
    return raw


def _number(raw: object) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not abs(raw) < 1e18:
        raise TypeError(raw)
    return float(raw)


def _whole(raw: object) -> int | None:
    number = _number(raw)
    return None if number is None else int(number)
