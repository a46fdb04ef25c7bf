"""Who talks to whom: what agents saw of connections, with names for both ends."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from nemutator_common.wire_activity import Flow

from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.kube.objects import Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEnd:
    """One side of a connection."""

    kind: str
    """`Pod`, `Service`, `Node`, or `Address` for what is not known."""
    namespace: str = ""
    name: str
    owner_kind: str = ""
    """Of a pod: the workload that makes it."""
    owner: str = ""
    address: str = ""

    @property
    def id(self) -> str:
        """The workload, for a pod; itself otherwise."""
        if self.owner:
            return f"{self.owner_kind}/{self.namespace}/{self.owner}"
        return (
            f"{self.kind}/{self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind}/{self.name}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFlow:
    node: str
    pod: FlowEnd
    peer: FlowEnd
    direction: str
    """`out`: the pod has connected to the peer; `in`: the peer to the pod."""
    protocol: str
    port: int
    """Of the side that listens."""
    received: float
    """Bytes per second, by the pod."""
    sent: float
    connections: int
    from_at: float
    to_at: float


@dataclass(frozen=True, slots=True)
class Addresses:
    """Who has which address. Pods in their node's network share that one, and are not found by it."""

    by_address: Mapping[str, FlowEnd] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    """When the pod was made that has an address now."""

    def end(self, address: str, *, at: float = math.inf) -> FlowEnd:
        """Who had *address* at that moment, as far as that is known."""
        known = self.by_address.get(address)
        if known is None or _moment(self.made.get(address, "")) > at:
            # What is told of a pod stays until its next turn: another one may have its peer's address by now.
            return FlowEnd(kind="Address", name=address, address=address)
        return known


@lru_cache(maxsize=1 << 16)
def _moment(text: str) -> float:
    """A time as the API server writes it; the beginning of all times where it is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def addresses_of(snapshot: ClusterSnapshot, objects: ObjectsSnapshot) -> Addresses:
    found, made = dict[str, FlowEnd](), dict[str, str]()
    for node in objects.nodes.values():
        for each in node.status.addresses:
            if each.type.endswith("IP"):
                found[each.address] = FlowEnd(
                    kind="Node", name=node.metadata.name, address=each.address
                )
    for service in objects.services.values():
        meta = service.metadata
        for address in service.spec.cluster_ips:
            if address and address != "None":
                found[address] = FlowEnd(
                    kind="Service", namespace=meta.namespace, name=meta.name, address=address
                )
    for pod in snapshot.pods.objects.values():
        # The address of one that has ended may be another pod's by now.
        if pod.status.pod_ip and not pod.spec.host_network and not pod.has_ended:
            end = pod_end(pod, snapshot)
            for address in (end.address, *(each.ip for each in pod.status.further_ips)):
                found[address] = end if address == end.address else replace(end, address=address)
                made[address] = pod.metadata.creation_timestamp
    return Addresses(found, made)


def pod_end(pod: Pod, snapshot: ClusterSnapshot) -> FlowEnd:
    owner = snapshot.owner(pod)
    return FlowEnd(
        kind="Pod",
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        owner_kind=owner.kind,
        owner=owner.name,
        address=pod.status.pod_ip,
    )


def named_flows(
    reported: Iterable[tuple[str, Sequence[Flow]]],
    snapshot: ClusterSnapshot,
    addresses: Addresses,
) -> list[NamedFlow]:
    """*reported*: what each node has seen of its own pods; of others it cannot speak."""
    found = []
    for node, flows in reported:
        for flow in flows:
            pod = snapshot.pod(flow.pod_uid)
            if pod is None or pod.spec.node_name != node:
                continue
            seconds = max(flow.to_at - flow.from_at, 1.0)
            found.append(
                NamedFlow(
                    node=node,
                    pod=pod_end(pod, snapshot),
                    peer=addresses.end(flow.address, at=flow.to_at),
                    direction=flow.direction,
                    protocol=flow.protocol,
                    port=flow.port,
                    received=round(flow.received / seconds, 1),
                    sent=round(flow.sent / seconds, 1),
                    connections=flow.connections,
                    from_at=flow.from_at,
                    to_at=flow.to_at,
                )
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNode:
    id: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEdge:
    """From who connects to who listens."""

    source: str
    target: str
    port: int
    protocol: str
    sent: float
    """Bytes per second from source to target."""
    received: float
    connections: int


@dataclass(slots=True)
class _Edge:
    """What either side has seen of it: both tell of the same bytes."""

    out: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    incoming: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])


def flow_graph(flows: Iterable[NamedFlow]) -> tuple[list[FlowNode], list[FlowEdge]]:
    """Workloads, Services, nodes and strangers, and what goes between them."""
    nodes: dict[str, FlowNode] = {}
    edges: dict[tuple[str, str, int, str], _Edge] = {}
    for flow in flows:
        pod, peer = (_node(end) for end in (flow.pod, flow.peer))
        nodes.setdefault(pod.id, pod)
        nodes.setdefault(peer.id, peer)
        is_out = flow.direction == "out"
        ends = (pod.id, peer.id) if is_out else (peer.id, pod.id)
        edge = edges.setdefault((*ends, flow.port, flow.protocol), _Edge())
        sums = edge.out if is_out else edge.incoming
        there, back = (flow.sent, flow.received) if is_out else (flow.received, flow.sent)
        sums[0] += there
        sums[1] += back
        sums[2] += flow.connections
    return list(nodes.values()), [
        _edge(key, max(edge.out, edge.incoming, key=sum)) for key, edge in edges.items()
    ]


def _node(end: FlowEnd) -> FlowNode:
    kind, name = (end.owner_kind, end.owner) if end.owner else (end.kind, end.name)
    return FlowNode(id=end.id, kind=kind, namespace=end.namespace, name=name)


def _edge(key: tuple[str, str, int, str], sums: Sequence[float]) -> FlowEdge:
    source, target, port, protocol = key
    return FlowEdge(
        source=source,
        target=target,
        port=port,
        protocol=protocol,
        sent=round(sums[0], 1),
        received=round(sums[1], 1),
        connections=int(sums[2]),
    )
