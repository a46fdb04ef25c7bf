"""`nemutator-controller brain`, put together."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare, renew_link_token
from nemutator_common.readiness import Readiness
from nemutator_common.secret import Secret
from nemutator_common.serving.addresses import TcpAddress, UnixAddress, parse_address
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.metrics import Metrics
from nemutator_common.serving.server import HttpServer
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import LARGEST_BATCH_BYTES

from nemutator_controller.app.in_cluster import InTheCluster
from nemutator_controller.app.insight import Insight
from nemutator_controller.app.journaling import Journaling
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.saving import NodeSaver
from nemutator_controller.cluster.sql import SqlLatest
from nemutator_controller.cluster.topology import NO_PODS
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.api import LinksApi
from nemutator_controller.console.gates import (
    LINK_REMEDY,
    POD_REMEDY,
    BrowserGate,
    CallerGate,
)
from nemutator_controller.console.pages import Pages
from nemutator_controller.console.permissions import unlisted
from nemutator_controller.console.sessions import Sessions
from nemutator_controller.console.sql import SqlSessions
from nemutator_controller.database.access import Database
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.sql import SqlGrants
from nemutator_controller.ingest.endpoint import Streams, Uplink
from nemutator_controller.ingest.link_token import LinkToken
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

CONSOLE_LIMITS = Limits(body_bytes=64 << 10, connections=256, drain_s=0.3)
"""What the page posts is small. The drains together stay below the second that a stop may take."""


async def run(settings: BrainSettings, stop: asyncio.Event) -> None:
    """Be the brain until *stop*."""
    directory = prepare(settings.data_dir)
    clock, meter, readiness = SystemClock(), Metrics(), Readiness()
    async with _cluster(settings, directory, clock, meter, readiness) as cluster:
        await _run(settings, directory, cluster, stop, clock, meter, readiness)


@contextlib.asynccontextmanager
async def _cluster(
    settings: BrainSettings,
    directory: DataDirectory,
    clock: SystemClock,
    meter: Metrics,
    readiness: Readiness,
) -> AsyncIterator[InTheCluster | None]:
    """What the cluster gives, when there is one."""
    if not settings.cluster:
        yield None
        return
    # Nobody supervises us here who would make one.
    renew_link_token(directory)
    access = InCluster(clock, mount=settings.service_account)
    async with HttpTransport(access, meter) as transport:
        yield InTheCluster(
            settings,
            transport,
            LeafFiles(directory.root),
            clock=clock,
            meter=meter,
            readiness=readiness,
        )


async def _run(
    settings: BrainSettings,
    directory: DataDirectory,
    cluster: InTheCluster | None,
    stop: asyncio.Event,
    clock: SystemClock,
    meter: Metrics,
    readiness: Readiness,
) -> None:
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
        sessions = Sessions(session_s=settings.session_s)
        doorkeeper = Doorkeeper(sessions, SqlSessions(database), fresh=fresh_secret, clock=clock)
        insight = Insight(
            settings,
            database,
            nodes,
            whose=cluster.whose if cluster else None,
            requests=cluster.requests if cluster else None,
            pods=cluster.pods if cluster else None,
            console=lambda: cluster.console if cluster else f"http://{console_address()}",
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

        def console_address() -> TcpAddress:
            assert isinstance(console.address, TcpAddress)
            return console.address

        api = [
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
        pages = Pages(doorkeeper, console_address, session_s=settings.session_s, meter=meter)
        if cluster is None:
            console = HttpServer(
                name="console",
                address=parse_address(settings.console),
                routes=[*api, *pages.routes()],
                middlewares=[BrowserGate(doorkeeper, console_address, meter=meter).admit],
                operations=frozenset({"healthz"}),
                limits=CONSOLE_LIMITS,
                meter=meter,
                readiness=readiness,
                clock=clock,
            )
            links = LinksApi(doorkeeper, console_address).routes()
            remote = []
        else:
            if missing := [r for r in api if unlisted(r.method, r.path)]:
                raise RuntimeError(f"paths that nobody has a permission for: {missing}")
            console = HttpServer(
                name="console",
                address=parse_address(settings.cluster_console),
                routes=[*api, *cluster.gate.routes(), *pages.files()],
                middlewares=[cluster.gate.admit],
                operations=frozenset({"healthz"}),
                limits=CONSOLE_LIMITS,
                tls=cluster.leaf.tls,
                meter=meter,
                readiness=readiness,
                clock=clock,
            )
            links = []
            remote = [
                HttpServer(
                    name="uplink",
                    address=parse_address(settings.uplink),
                    routes=uplink,
                    middlewares=[CallerGate(cluster.callers, remedy=POD_REMEDY).admit],
                    operations=frozenset({"healthz", "readyz", "metrics"}),
                    limits=_uplink_limits(settings),
                    tls=cluster.leaf.tls,
                    meter=meter,
                    readiness=readiness,
                    clock=clock,
                )
            ]
        local = HttpServer(
            name="local",
            address=UnixAddress(directory.socket(names.BRAIN)),
            routes=[
                *api,
                *links,
                *uplink,
            ],
            middlewares=[CallerGate(LinkToken(directory), remedy=LINK_REMEDY).admit],
            operations=frozenset({"healthz", "readyz", "metrics"}),
            limits=LOCAL_LIMITS,
            meter=meter,
            readiness=readiness,
            clock=clock,
        )
        await keeper.restore()
        await doorkeeper.restore()
        await insight.restore()
        supervisor = Supervisor()
        insight.add_keeper(supervisor)
        journaling.add(supervisor)
        supervisor.add("keeper", keeper.run)
        supervisor.add(
            HISTORY.task, Retention(history, keep, HISTORY, meter=meter, clock=clock).run
        )
        supervisor.add("http local", local.run)
        if cluster is None:
            supervisor.add("http console", console.run)
        else:
            cluster.add_to(supervisor)
            for server in (console, *remote):
                supervisor.add(f"http {server.name}", cluster.served(server))
        insight.add_desk(supervisor)
        if cluster is not None:
            insight.add_annotated(supervisor, cluster.annotated, cluster.results)
            journaling.add_sightings(supervisor, cluster.marked)
        try:
            await local.bind()
            if cluster is None:
                await console.bind()
            await supervisor.run(stop)
        finally:
            for server in (local, console, *remote):
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


def fresh_secret() -> Secret:
    """256 bits that nobody can guess."""
    return Secret(secrets.token_urlsafe(32))
