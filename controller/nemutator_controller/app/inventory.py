"""The inventory, put together, with what it asks of the cluster and of sizing."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from nemutator_common.clocks import Clock

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.nodes import staleness
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.sizing import requests_here
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.ingest.report_pace import ReportPace
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.current_use import CurrentUse
from nemutator_controller.inventory.deploys_endpoint import DeploysApi
from nemutator_controller.inventory.endpoint import InventoryApi, shown_nodes
from nemutator_controller.inventory.fleet.claiming import TablesClaiming
from nemutator_controller.inventory.fleet.endpoint import FleetApi
from nemutator_controller.inventory.fleet.publishing import InventoryPublishing
from nemutator_controller.inventory.fleet.sql import SqlPublications
from nemutator_controller.inventory.flows_endpoint import FlowsApi
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.inventory.model import ContainerName, UseLevels
from nemutator_controller.inventory.ports import KnownLevels
from nemutator_controller.inventory.taking import CountedCluster, CountedMachine
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import NAMESPACES
from nemutator_controller.prices import written_prices
from nemutator_controller.sizing.known_usage import KnownUsage
from nemutator_controller.sizing.ports import Requests
from nemutator_controller.sizing.usages import Usages

LEVELS_S = 30.0
"""How old what containers used for days may be: reading it takes a second for 20 000 containers."""

AT_ONCE = 200
"""Rows between two turns of the loop: about 10 ms."""


def counted_cluster(
    context: BrainContext, use: CurrentUse, levels: KnownLevels
) -> CountedCluster | None:
    """None: there is no cluster. Everybody asks the same one: figures of 150 000 pods are kept once."""
    if context.cluster is None:
        return None
    watched, clock = WatchedByBrain(context.cluster), context.process.clock
    return CountedCluster(watched, use, levels, asyncio.to_thread, clock)


def counted_machine(
    context: BrainContext, nodes: Nodes, usages: Usages, levels: KnownLevels
) -> CountedMachine:
    """Where there is no cluster."""
    requests = RequestsOfManifests(requests_here(context, usages))
    return CountedMachine(nodes, levels, requests, asyncio.to_thread, context.process.clock)


def inventory_part(
    context: BrainContext,
    nodes: Nodes,
    pace: ReportPace,
    counted: CountedCluster | CountedMachine,
    kept: KeptFlows,
) -> Part:
    """*kept* takes in what is stored."""
    cluster = context.cluster
    api = InventoryApi(
        counted,
        nodes.all,
        staleness(context, pace),
        in_cluster=cluster is not None,
        process=context.process,
        prices=written_prices(context.settings.prices),
    )
    watched = None if cluster is None else WatchedByBrain(cluster)
    made_anew = DeploysApi(watched, process=context.process)
    flows = FlowsApi(watched, kept, process=context.process)
    publications = SqlPublications(context.database, context.settings.cluster_name)
    fleet = FleetApi(publications, context.settings.cluster_name, process=context.process)
    publishing = InventoryPublishing(
        counted.now,
        nodes.all,
        lambda figures, reported, now: shown_nodes(
            figures,
            reported,
            now=now,
            after_s=staleness(context, pace)(),
            in_cluster=cluster is not None,
        ),
        publications,
        asyncio.to_thread,
        context.process,
    )
    tasks = []
    if context.settings.cluster_name:
        tasks.append(Task(TaskPhase.WORK, "publish inventory", publishing.run, alone=True))
    if cluster is not None and context.settings.database:
        claiming = TablesClaiming(
            publications, partial(identity_of, cluster.reader), context.process
        )
        tasks.append(Task(TaskPhase.WATCH, "whose tables", claiming.run))
    return Part(
        routes=[*api.routes(), *made_anew.routes(), *flows.routes(), *fleet.routes()], tasks=tasks
    )


async def identity_of(reader: Reader) -> str:
    """A cluster is known by its namespace `kube-system`, which lives as long as it does."""
    selection = Selection(fields="metadata.name=kube-system")
    async for page in reader.pages(NAMESPACES, selection):
        for one in page.items:
            return one.metadata.uid
    return ""


@dataclass(frozen=True, slots=True)
class WatchedByBrain:
    """The `WatchedInventory`."""

    cluster: Cluster

    def pods(self) -> ClusterSnapshot | None:
        return self.cluster.watch.snapshot()

    def objects(self) -> ObjectsSnapshot:
        return self.cluster.objects.snapshot()


@dataclass(frozen=True, slots=True)
class RequestsOfManifests:
    """The `KnownRequests`, from what sizing knows of manifests."""

    requests: Requests

    async def now(self) -> Mapping[ContainerName, CpuMemory]:
        return {
            (key.namespace, key.owner_kind, key.owner, key.container): CpuMemory(
                one.cpu_millis or 0, one.memory_bytes or 0
            )
            for key, one in (await self.requests.now()).items()
        }


@dataclass(slots=True)
class LevelsOfUsages:
    """The `KnownLevels`, from what sizing has learned."""

    usages: Usages
    clock: Clock
    _known: Mapping[ContainerName, UseLevels] = field(default_factory=dict, init=False)
    _read_at: float | None = field(default=None, init=False)

    async def now(self) -> Mapping[ContainerName, UseLevels]:
        now = self.clock.monotonic()
        if self._read_at is None or now - self._read_at >= LEVELS_S:
            self._read_at = now
            self._known = await self._read()
        return self._known

    async def _read(self) -> Mapping[ContainerName, UseLevels]:
        keys, now = self.usages.keys(), self.clock.now()
        found: dict[ContainerName, UseLevels] = {}
        for begin in range(0, len(keys), AT_ONCE):
            for one in self.usages.seen(keys[begin : begin + AT_ONCE], now=now):
                key = one.key
                found[key.namespace, key.owner_kind, key.owner, key.container] = _levels(one)
            await asyncio.sleep(0)
        return found


def _levels(known: KnownUsage) -> UseLevels:
    return UseLevels(known.cpu_p50, known.cpu_p95, known.memory_p95, known.memory_max)
