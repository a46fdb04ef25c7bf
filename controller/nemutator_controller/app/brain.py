"""`nemutator-controller brain`, put together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from nemutator_common import names
from nemutator_common.data_directory_files import renew_link_token
from nemutator_common.process import Process
from nemutator_common.real_process import real_process
from nemutator_common.serving.addresses import UnixAddress, parse_address
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer
from nemutator_common.wire import LARGEST_BATCH_BYTES

from nemutator_controller.access.callers import Caller, Callers
from nemutator_controller.access.gates import (
    LINK_TOKEN_REMEDY,
    POD_REMEDY,
    Gate,
    ProcessRule,
)
from nemutator_controller.access.link_token import LinkToken
from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.access.sql import SqlSessions
from nemutator_controller.app.console import LocalConsole, cluster_console
from nemutator_controller.app.in_cluster import InTheCluster
from nemutator_controller.app.insight import Insight
from nemutator_controller.app.journaling import Journaling
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.saving import NodeSaver
from nemutator_controller.cluster.sql import SqlLatest
from nemutator_controller.cluster.topology import NO_PODS
from nemutator_controller.database.access import Database
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.sql import SqlGrants
from nemutator_controller.ingest.endpoint import Streams, Uplink
from nemutator_controller.ingest.pacing import Pace
from nemutator_controller.ingest.receiving import Receiver, StreamReceiver
from nemutator_controller.ingest.sql import SqlReports, SqlStreams, StreamHandler
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.kube.incluster import InCluster
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.registration.leaf_files import LeafFiles
from nemutator_controller.settings import BrainSettings
from nemutator_controller.usage.endpoint import HistoryApi
from nemutator_controller.usage.sql import SqlHistory, make_room, record

HISTORY = RetentionTask(
    task="retention",
    every_s=60.0,
    step=1_000,
    kept=names.HISTORY_POINTS,
    dropped=names.HISTORY_DROPPED,
)

LOCAL_LIMITS = Limits(body_bytes=LARGEST_BATCH_BYTES, drain_s=0.5)
CONNECTIONS_OF_A_NODE = 3
"""Its grants, its reports, and one that waits for something to profile."""

OTHER_CONNECTIONS = 256
"""Of admission, probes and scrapes, and of agents that start while their last life still ends."""

UPLINK_RECEIVE_BYTES = 8 << 10
"""A connection that has brought 60 KB keeps 128 KiB; with four times as much it keeps 206 (measured)."""


async def run(settings: BrainSettings, stop: asyncio.Event) -> None:
    """Be the brain until *stop*."""
    process = real_process(settings.data_dir)
    async with _cluster(settings, process) as cluster:
        await _run(settings, cluster, stop, process)


@contextlib.asynccontextmanager
async def _cluster(settings: BrainSettings, process: Process) -> AsyncIterator[InTheCluster | None]:
    """What the cluster gives, when there is one."""
    if not settings.cluster:
        yield None
        return
    # Nobody supervises us here who would make one.
    renew_link_token(process.directory)
    access = InCluster(process.clock, mount=settings.service_account)
    async with HttpTransport(access, process.meter) as transport:
        yield InTheCluster(settings, transport, LeafFiles(process.directory.root), process)


async def _run(
    settings: BrainSettings,
    cluster: InTheCluster | None,
    stop: asyncio.Event,
    process: Process,
) -> None:
    directory, clock, meter, readiness = (
        process.directory,
        process.clock,
        process.meter,
        process.readiness,
    )
    database = Database(
        directory.database,
        largest_bytes=settings.database_bytes,
        make_room=make_room,
        meter=meter,
        readiness=readiness,
    )
    try:
        nodes = Nodes(most=settings.most_nodes)
        keeper = NodeSaver(
            nodes, SqlLatest(database), forget_after_s=settings.history_s, clock=clock
        )
        history = SqlHistory(database)
        keep = RetentionLimit(seconds=settings.history_s, records=settings.history_points)
        local_console: LocalConsole | None = None

        def console_url() -> str:
            if local_console is not None:
                return f"http://{local_console.address()}"
            assert cluster is not None
            return cluster.console

        insight = Insight(
            settings,
            database,
            nodes,
            whose=cluster.whose if cluster else None,
            requests=cluster.requests if cluster else None,
            pods=cluster.pods if cluster else None,
            console=console_url,
            meter=meter,
            clock=clock,
        )
        reports = insight.hearing(SqlReports(database, record))
        pace = Pace(nodes, reports_per_s=settings.reports_per_s, meter=meter)
        receiver = Receiver(reports, nodes, pace, meter=meter, clock=clock)
        grants = SqlGrants(database, clock=clock)
        journaling = Journaling(
            settings,
            database,
            directory,
            cluster=KubeObjects(cluster.reader, cluster.writer) if cluster else None,
            meter=meter,
            clock=clock,
        )
        handlers: dict[str, StreamHandler] = {
            "decisions": journaling.record,
            "grants": grants.record,
        }
        records = StreamReceiver(SqlStreams(database, handlers), meter=meter, clock=clock)

        api: list[AllowedRoute] = [
            *TopologyApi(
                nodes,
                stale_after_s=lambda: max(
                    settings.stale_after_s, pace.missed_after_s(now=clock.now())
                ),
                clock=clock,
                whose=cluster.watch if cluster else NO_PODS,
            ).routes(),
            *HistoryApi(history, clock=clock).routes(),
            *GrantsApi(grants, clock=clock).routes(),
            *insight.api(),
            *journaling.api(),
        ]
        uplink = [
            *Uplink(receiver, meter=meter).routes(),
            *Streams(records, handlers, meter=meter).routes(),
            *insight.uplink(),
            *journaling.uplink(),
        ]
        servers: list[HttpServer] = []
        if cluster is None:
            local_console = LocalConsole(settings, SqlSessions(database), api, process)
            servers.append(local_console.server)
            links = local_console.links
        else:
            servers += [
                cluster_console(settings, cluster.reviewer, api, cluster.leaf.tls, process),
                HttpServer(
                    name="uplink",
                    address=parse_address(settings.uplink),
                    routes=uplink,
                    middlewares=[_gate(cluster.callers, POD_REMEDY).admit],
                    operations=frozenset({"healthz", "readyz", "metrics"}),
                    limits=_uplink_limits(settings),
                    tls=cluster.leaf.tls,
                    meter=meter,
                    readiness=readiness,
                    clock=clock,
                ),
            ]
            links = []
        local = HttpServer(
            name="local",
            address=UnixAddress(directory.socket(names.BRAIN)),
            routes=[
                *api,
                *links,
                *uplink,
            ],
            middlewares=[_gate(LinkToken(directory), LINK_TOKEN_REMEDY).admit],
            operations=frozenset({"healthz", "readyz", "metrics"}),
            limits=LOCAL_LIMITS,
            meter=meter,
            readiness=readiness,
            clock=clock,
        )
        await keeper.restore()
        if local_console is not None:
            await local_console.restore()
        await insight.restore()
        supervisor = process.supervisor
        insight.add_keeper(supervisor)
        journaling.add(supervisor)
        supervisor.add("keeper", keeper.run)
        supervisor.add(
            HISTORY.task, Retention(history, keep, HISTORY, meter=meter, clock=clock).run
        )
        supervisor.add("http local", local.run)
        if cluster is not None:
            cluster.add_to(supervisor)
        for server in servers:
            serve = cluster.served(server) if cluster else server.run
            supervisor.add(f"http {server.name}", serve)
        insight.add_desk(supervisor)
        if cluster is not None:
            insight.add_annotated(supervisor, cluster.annotated, cluster.results)
            journaling.add_sightings(supervisor, cluster.marked)
        try:
            await local.bind()
            if local_console is not None:
                await local_console.server.bind()
            await supervisor.run(stop)
        finally:
            for server in (local, *servers):
                server.close()
    finally:
        database.close()


def _uplink_limits(settings: BrainSettings) -> Limits:
    most = CONNECTIONS_OF_A_NODE * settings.most_nodes + OTHER_CONNECTIONS
    return Limits(
        body_bytes=LARGEST_BATCH_BYTES,
        receive_bytes=UPLINK_RECEIVE_BYTES,
        connections=most,
        drain_s=0.3,
    )


def _gate(callers: Callers, remedy: str) -> Gate[Caller]:
    """For processes, who get JSON."""
    rule = ProcessRule(callers, remedy=remedy)
    return Gate(rule, refuse=lambda _, refused: refused.as_json())
