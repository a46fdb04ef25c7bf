"""Plans, requests and progress of evictions, for people."""

from dataclasses import dataclass

import msgspec

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table
from nemutator_ctl.terminal_text import visible

EVICTIONS_PATH = "/api/v1/evictions"

WIDTH = 200

PLANNED = (
    Column("POD"),
    Column("WORKLOAD", limit=50),
    Column("NODE", limit=40),
    Column("EVICTED"),
    Column("WHY NOT", limit=80),
)
PODS = (
    Column("POD"),
    Column("WORKLOAD", limit=50),
    Column("NODE", limit=40),
    Column("STATE"),
    Column("WHY", limit=100),
)
REQUESTS = (
    Column("ID"),
    Column("AT"),
    Column("BY", limit=40),
    Column("PODS", limit=40),
    Column("STATES", limit=60),
    Column("REASON", limit=60),
)

_OPEN = frozenset({"queued", "waits", "evicting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPod:
    namespace: str
    name: str
    workload: str
    node: str
    evicted: bool
    why: str


class ShownEvictionPlan(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    takes_all: bool
    missing: tuple[str, ...]
    pods: tuple[PlannedPod, ...]

    @property
    def does_something(self) -> bool:
        return any(pod.evicted for pod in self.pods)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedPod:
    namespace: str
    name: str
    workload: str
    node: str
    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRequest:
    id: str
    at: Moment
    until: Moment
    by: str
    reason: str
    selection: str
    counts: dict[str, int]
    pods: tuple[RequestedPod, ...] = ()

    @property
    def goes_on(self) -> bool:
        return any(state in _OPEN for state in self.counts)

    @property
    def is_whole(self) -> bool:
        """Each pod has ended, by us or without us."""
        return self.counts.keys() <= {"evicted", "gone"}


def decode_plan(document: object) -> ShownEvictionPlan:
    return understood(document, ShownEvictionPlan, "a plan of evictions")


def decode_request(document: object) -> ShownRequest:
    return understood(document, ShownRequest, "a request for evictions")


def decode_list(document: object) -> tuple[ShownRequest, ...]:
    return understood(document, Listing[ShownRequest], "a list of requests").items


def plan_view(plan: ShownEvictionPlan) -> str:
    rows = [
        (
            f"{pod.namespace}/{pod.name}",
            pod.workload,
            pod.node,
            "yes" if pod.evicted else "no",
            pod.why,
        )
        for pod in plan.pods
    ]
    number = sum(pod.evicted for pod in plan.pods)
    lines = [f"plan {visible(plan.id, limit=WIDTH)}: {number} of {len(rows)} pods would be evicted"]
    lines += [f"  {visible(name, limit=WIDTH)}: there is no such pod" for name in plan.missing]
    if plan.takes_all:
        lines.append("  that is every pod that can be evicted: it needs --all and --planned")
    return "".join(f"{line}\n" for line in lines) + (table(PLANNED, rows) if rows else "")


def instead_of_yes(plan: ShownEvictionPlan) -> str:
    """What a script says whom nobody asks."""
    planned = f"--planned={visible(plan.id, limit=WIDTH)}"
    return f"--all {planned}" if plan.takes_all else f"--yes, or {planned}"


def request_view(request: ShownRequest) -> str:
    head = (
        f"{visible(request.id, limit=WIDTH)}: {visible(request.selection, limit=WIDTH)}, for"
        f" {visible(request.by, limit=WIDTH)}: {visible(request.reason, limit=WIDTH)}\n"
        f"  {_states(request)}; until {moment(request.until)}\n"
    )
    rows = [
        (f"{pod.namespace}/{pod.name}", pod.workload, pod.node, pod.state, pod.why)
        for pod in request.pods
    ]
    return head + (table(PODS, rows) if rows else "")


def list_view(requests: tuple[ShownRequest, ...]) -> str:
    if not requests:
        return "nobody has asked for an eviction\n"
    rows = [
        (each.id, moment(each.at), each.by, each.selection, _states(each), each.reason)
        for each in requests
    ]
    return table(REQUESTS, rows)


def _states(request: ShownRequest) -> str:
    counted = (f"{number} {visible(state, limit=20)}" for state, number in request.counts.items())
    return ", ".join(counted)
