"""Placement, put together, with what it learns from the cluster, from use, flows and neighbours."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nemutator_common.addresses import parse_address
from nemutator_common.clocks import Clock
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.inventory import WatchedByBrain
from nemutator_controller.app.listeners import BrainListener
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.inventory.counted_pods import CountedPod
from nemutator_controller.inventory.flows import FlowEnd, NamedFlow, addresses_of, named_flows
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.inventory.model import (
    ClusterFigures,
    ContainerName,
    UseLevels,
)
from nemutator_controller.inventory.ports import KnownLevels
from nemutator_controller.inventory.taking import CountedCluster, NotListedYetError
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import NeighbourRole
from nemutator_controller.placement.endpoint import PlacementApi, SchedulerExtender, TalkersApi
from nemutator_controller.placement.nodes_snapshot import (
    NodeFacts,
    NodesSnapshot,
    Workload,
    nodes_snapshot,
)
from nemutator_controller.placement.pods import LARGEST_BYTES
from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_controller.placement.telling import ROUND_S, TalkerTelling
from nemutator_controller.seasons.day_book import CLUSTER

ON_EACH_NODE = "DaemonSet"

SEASON_OF = {"Pack": "off-peak", "Spread": "peak"}
"""The season whose scores a SeasonPolicy asks for."""

UNTOLD = frozenset({"flat", "unknown"})
"""Seasons that say nothing of what comes."""

EXTENDER_LIMITS = Limits(body_bytes=LARGEST_BYTES, connections=64, request_s=2.0, drain_s=0.3)
"""Schedulers are few, and go on without us after a tenth of a second."""


def kept_snapshot(
    context: BrainContext,
    flows: KeptFlows,
    neighbours: NeighbourAssessments,
    seasons: BrainSeasons,
    counted: CountedCluster | None,
    levels: KnownLevels,
) -> KeptNodesSnapshot | None:
    """None: there is no cluster."""
    if context.cluster is None or counted is None:
        return None
    watched = WatchedByBrain(context.cluster)
    clock = context.process.clock
    return KeptNodesSnapshot(
        ClusterNodes(counted, watched, flows, neighbours, seasons, levels, clock), context.process
    )


def placement_part(context: BrainContext, snapshot: KeptNodesSnapshot | None) -> Part:
    routes = PlacementApi(snapshot, context.process).routes()
    telling = _telling(context, snapshot)
    listener = None if snapshot is None else extender_listener(context, snapshot)
    tasks = []
    if telling is not None:
        tasks.append(Task(TaskPhase.WATCH, "tell talkers", telling.run))
    if snapshot is not None and listener is not None:
        # It is bound once there is a certificate, and closes itself.
        tasks += [Task(TaskPhase.WATCH, "snapshot nodes", snapshot.run), listener.task]
    return Part(routes=routes, uplink=TalkersApi(telling).routes(), tasks=tasks)


def _telling(context: BrainContext, snapshot: KeptNodesSnapshot | None) -> TalkerTelling | None:
    if snapshot is None:
        return None
    round_s = ROUND_S * context.settings.neighbour_minute_s / 60
    return TalkerTelling(snapshot, context.process, round_s)


def extender_listener(context: BrainContext, snapshot: KeptNodesSnapshot) -> BrainListener | None:
    """For schedulers, where a setting names its address."""
    settings, cluster = context.settings, context.cluster
    if cluster is None or not settings.extender:
        return None
    client_ca = Path(settings.extender_client_ca) if settings.extender_client_ca else None
    server = HttpServer(
        process=context.process,
        name="extender",
        address=parse_address(settings.extender),
        routes=SchedulerExtender(snapshot, context.process).routes(),
        operations=frozenset({"healthz", "readyz"}),
        limits=EXTENDER_LIMITS,
        tls=replace(cluster.leaf.tls, client_ca=client_ca),
    )
    return BrainListener(server, cluster.registrar.has_leaf)


@dataclass(frozen=True, slots=True)
class ClusterNodes:
    """The `NodesSource`."""

    counted: CountedCluster
    watched: WatchedByBrain
    flows: KeptFlows
    neighbours: NeighbourAssessments
    seasons: BrainSeasons
    levels: KnownLevels
    clock: Clock

    def has_flows(self) -> bool:
        return self.flows.has_any(now=self.clock.now())

    def node_of(self, uid: str) -> str | None:
        snapshot = self.watched.pods()
        if snapshot is None:
            return ""
        pod = snapshot.pod(uid)
        return None if pod is None else pod.spec.node_name

    async def take(self) -> NodesSnapshot | None:
        snapshot = self.watched.pods()
        if snapshot is None:
            return None
        try:
            figures = await self.counted.now()
        except NotListedYetError:
            return None
        now, levels = self.clock.now(), await self.levels.now()
        reported = self.flows.all(now=now)
        latest = self.neighbours.latest
        grades: dict[str, dict[NeighbourRole, int]] = defaultdict(dict)
        for one in latest.pods:
            for role, times in one.grades.items():
                of_node = grades[one.node]
                of_node[role] = max(of_node.get(role, 0), times.now or 0)
        aggressors = {
            (one.namespace, one.kind, one.name): max(times.now or 0, times.usual or 0)
            for one in latest.workloads
            if (times := one.grades[NeighbourRole.AGGRESSOR]).most
        }

        seasons = {
            scope: found.state.season
            for scope, found in list(self.seasons.finding.found.items())
            if found.state.season not in UNTOLD
        }
        season = seasons.pop(CLUSTER, "")
        if said := SEASON_OF.get(self.seasons.behaviour().placement):
            # Who says so in a policy means all workloads.
            season, seasons = said, {}

        def made() -> NodesSnapshot:
            named: list[NamedFlow] = []
            if any(flows for _, flows in reported):
                addresses = addresses_of(snapshot, self.watched.objects())
                named = named_flows(reported, snapshot, addresses)
            places = places_of(named, snapshot)
            worst = worst_cores(figures, levels)
            counts = {key: len(workload.pods) for key, workload in figures.workloads.items()}
            talkers, peers = talking(named, places, counts)
            return nodes_snapshot(
                _nodes(figures, grades, worst),
                familiars=_familiars(figures),
                talkers=talkers,
                peers=peers,
                labels={key: _shared_labels(figures, key) for key in peers},
                aggressors=aggressors,
                worst=worst,
                taken_at=now,
                season=season,
                seasons=seasons,
                bound=_bound(figures),
            )

        return await asyncio.to_thread(made)


def worst_cores(
    figures: ClusterFigures, levels: Mapping[ContainerName, UseLevels]
) -> dict[Workload, float]:
    """What one pod of each workload uses when it is busy, of those of which that is known."""
    found: dict[Workload, float] = {}
    for key, workload in figures.workloads.items():
        containers = workload.pods.pods[0].spec.containers if workload.pods else ()
        known = [
            level.cpu_worst
            for each in containers
            if (level := levels.get((*key, each.name))) is not None
        ]
        if known:
            found[key] = sum(known)
    return found


def _nodes(
    figures: ClusterFigures,
    grades: Mapping[str, Mapping[NeighbourRole, int]],
    worst: Mapping[Workload, float],
) -> list[NodeFacts]:
    own: dict[str, int] = defaultdict(int)
    busy: dict[str, float] = defaultdict(float)
    for key, workload in figures.workloads.items():
        for each in workload.pods:
            node = each.pod.spec.node_name
            known = worst.get(key)
            busy[node] += _cores_now(each) if known is None else known
            own[node] += key[1] != ON_EACH_NODE
    return [
        NodeFacts(
            name=node.name,
            cpu_cores=node.raw_cpu_millis / 1_000,
            memory_bytes=float(node.allocatable.memory_bytes),
            requested_cores=node.tally.requests.cpu_millis / 1_000,
            requested_bytes=float(node.tally.requests.memory_bytes),
            # A node without pods uses nothing; one whose agent is silent is not known.
            used_cores=node.tally.cpu_cores if node.tally.pods else 0.0,
            used_bytes=node.tally.memory_bytes if node.tally.pods else 0.0,
            worst_cores=busy.get(node.name, 0.0),
            pods=own.get(node.name, 0),
            aggressor=grades.get(node.name, {}).get(NeighbourRole.AGGRESSOR, 0),
            victim=grades.get(node.name, {}).get(NeighbourRole.VICTIM, 0),
        )
        for node in figures.nodes.values()
    ]


def _cores_now(counted: CountedPod) -> float:
    """Of a pod of which nothing is known for long, what it uses now says more than what was asked for."""
    used = None if counted.use is None else counted.use.cpu_cores()
    return counted.demand.requests.cpu_millis / 1_000 if used is None else used


def _bound(figures: ClusterFigures) -> frozenset[str]:
    """Of the pods that these *figures* have, and not of those that are there by now."""
    return frozenset(
        pod.metadata.uid
        for workload in figures.workloads.values()
        for pod in workload.pods.pods
        if pod.spec.node_name
    )


def _familiars(figures: ClusterFigures) -> dict[Workload, Mapping[str, int]]:
    found: dict[Workload, Mapping[str, int]] = {}
    for key, workload in figures.workloads.items():
        counts: dict[str, int] = defaultdict(int)
        for pod in workload.pods.pods:
            if pod.spec.node_name:
                counts[pod.spec.node_name] += 1
        if counts:
            found[key] = counts
    return found


def places_of(flows: Iterable[NamedFlow], snapshot: ClusterSnapshot) -> dict[str, str]:
    """The nodes of the pods between which *flows* are."""
    ends = {end for flow in flows for end in (flow.pod, flow.peer)}
    pods = {
        key: snapshot.pods.objects.get(key)
        for key in (f"{end.namespace}/{end.name}" for end in ends)
    }
    return {key: pod.spec.node_name for key, pod in pods.items() if pod is not None}


def talking(
    flows: list[NamedFlow], places: Mapping[str, str], counts: Mapping[Workload, int]
) -> tuple[dict[Workload, Mapping[str, float]], dict[Workload, Mapping[Workload, float]]]:
    """Of each workload, by the nodes on which those are that it talks to, and by each of their workloads for one pod of it.
    Its own pods are familiars. *places*: the node of each pod; *counts*: how many pods each workload has."""
    by_node: dict[Workload, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    by_peer: dict[Workload, dict[Workload, float]] = defaultdict(lambda: defaultdict(float))
    for (pod, peer), moved in _exchanged(flows).items():
        for one, other in ((pod, peer), (peer, pod)):
            node = places.get(f"{other.namespace}/{other.name}", "") if other.owner else ""
            if one.owner and node and _workload(one) != _workload(other):
                by_node[_workload(one)][node] += moved
                by_peer[_workload(one)][_workload(other)] += moved
    return {key: dict(nodes) for key, nodes in by_node.items()}, {
        key: {peer: moved / max(counts.get(peer, 1), 1) for peer, moved in peers.items()}
        for key, peers in by_peer.items()
    }


def _exchanged(flows: list[NamedFlow]) -> dict[tuple[FlowEnd, FlowEnd], float]:
    """Between who connects and who listens. Where agents of both sides tell of the same bytes, those of the one that tells
    of more: the other has seen less of them."""
    told: dict[tuple[FlowEnd, FlowEnd, int], dict[str, float]] = defaultdict(
        lambda: defaultdict(float)
    )
    for flow in flows:
        is_out = flow.direction == "out"
        ends = (flow.pod, flow.peer) if is_out else (flow.peer, flow.pod)
        told[(*ends, flow.port)][flow.direction] += flow.received + flow.sent
    found: dict[tuple[FlowEnd, FlowEnd], float] = defaultdict(float)
    for (client, server, _), sides in told.items():
        found[client, server] += max(sides.values())
    return found


def _shared_labels(figures: ClusterFigures, key: Workload) -> dict[str, str]:
    """That all of its pods have."""
    found = figures.workloads.get(key)
    pods = () if found is None else found.pods.pods
    if not pods:
        return {}
    labels = dict(pods[0].metadata.labels)
    for pod in pods[1:]:
        other = pod.metadata.labels
        if other != labels:
            labels = {name: value for name, value in labels.items() if other.get(name) == value}
    return labels


def _workload(end: FlowEnd) -> Workload:
    return end.namespace, end.owner_kind, end.owner
