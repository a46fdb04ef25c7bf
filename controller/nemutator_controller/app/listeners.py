"""Where the brain listens: for processes here and in the cluster; the console is in console.py."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.addresses import UnixAddress, parse_address
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.server import HttpServer
from nemutator_common.shipping.brain_connections import SERVED_S
from nemutator_common.wire import LARGEST_BATCH_BYTES

from nemutator_controller.access.callers import Caller, Callers
from nemutator_controller.access.gates import (
    LINK_TOKEN_REMEDY,
    POD_REMEDY,
    Gate,
    ProcessRule,
)
from nemutator_controller.access.later_calls import LaterCalls
from nemutator_controller.access.link_token import LinkToken
from nemutator_controller.access.routes import DeclaredRoutes, ProcessRoute
from nemutator_controller.answers import UNHANDLED
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Task, TaskPhase
from nemutator_controller.ingest.bodies import BoundedBodies

LOCAL_LIMITS = Limits(body_bytes=LARGEST_BATCH_BYTES, idle_s=SERVED_S, drain_s=0.5)
CONNECTIONS_OF_A_NODE = 3
"""For its grants, for its reports, and one that waits for something to profile."""

OTHER_CONNECTIONS = 256
"""For admission, probes and scrapes, and for agents that start while their predecessors end."""

REST_S = 1.0
"""An agent of a large cluster reports once a minute. When 5 000 come back at once, those of so long keep 11 KB each."""


@dataclass(frozen=True, slots=True)
class BrainListener:
    server: HttpServer
    leaf: asyncio.Event | None = None
    """Set when there is a certificate: then the server is bound. None: it is bound before anything runs."""

    @property
    def task(self) -> Task:
        return Task(TaskPhase.LISTEN, f"http {self.server.name}", self._run)

    async def _run(self) -> None:
        if self.leaf is not None:
            await self.leaf.wait()
            await self.server.bind()
        await self.server.run()


@contextlib.asynccontextmanager
async def bound(listeners: Sequence[BrainListener]) -> AsyncIterator[None]:
    """Bind all that need no certificate; close them all at the end."""
    try:
        for listener in listeners:
            if listener.leaf is None:
                await listener.server.bind()
        yield
    finally:
        for listener in listeners:
            listener.server.close()


def local_listener(context: BrainContext, routes: Sequence[ProcessRoute]) -> BrainListener:
    """For all who can enter the data directory."""
    process = context.process
    return BrainListener(
        HttpServer(
            process=process,
            name="local",
            address=UnixAddress(process.directory.socket(names.BRAIN)),
            routes=routes,
            middlewares=[
                _gate(_rule(LinkToken(process.directory), routes, LINK_TOKEN_REMEDY)).admit
            ],
            operations=ALL_OPERATIONS,
            limits=LOCAL_LIMITS,
            error_details=UNHANDLED,
        )
    )


def uplink_listener(
    context: BrainContext, cluster: Cluster, routes: Sequence[ProcessRoute]
) -> BrainListener:
    """For agents and admission, over the cluster's network."""
    settings, process = context.settings, context.process
    limits = Limits(
        body_bytes=LARGEST_BATCH_BYTES,
        connections=CONNECTIONS_OF_A_NODE * settings.most_nodes + OTHER_CONNECTIONS,
        idle_s=SERVED_S,
        rest_s=REST_S,
        drain_s=0.3,
    )
    rule = _rule(cluster.callers, routes, POD_REMEDY)
    bodies = BoundedBodies(process.meter)
    server = HttpServer(
        process=process,
        name="uplink",
        address=parse_address(settings.uplink),
        routes=routes,
        middlewares=[_gate(rule).admit, bodies.bound],
        later=LaterCalls(rule, routes, bodies.bound_whole),
        operations=frozenset({"healthz", "readyz"}),
        limits=limits,
        tls=cluster.leaf.tls,
    )
    return BrainListener(server, cluster.registrar.has_leaf)


def _rule(callers: Callers, routes: Sequence[ProcessRoute], remedy: str) -> ProcessRule:
    return ProcessRule(callers, DeclaredRoutes(routes), remedy)


def _gate(rule: ProcessRule) -> Gate[Caller]:
    return Gate(rule=rule, refuse=lambda _, refused: refused.as_json())
