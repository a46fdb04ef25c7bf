"""`nemutator-controller brain`, put together: a list of parts, and the listeners that serve them."""

import asyncio
import contextlib
from collections.abc import Callable

from nemutator_common.process import Process
from nemutator_common.real_process import real_process
from nemutator_common.serving.operations_server import add_metrics_listener

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.app.ageing import ageing_part
from nemutator_controller.app.cluster import in_cluster
from nemutator_controller.app.console import ClusterConsole, LocalConsole
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import eviction_queue, evictions_part
from nemutator_controller.app.following import following_part
from nemutator_controller.app.grants import grants_part
from nemutator_controller.app.images import images_part
from nemutator_controller.app.journal import journal_part
from nemutator_controller.app.listeners import bound, local_listener, uplink_listener
from nemutator_controller.app.nodes import nodes_part
from nemutator_controller.app.parts import Part, add_tasks
from nemutator_controller.app.profiles import profiles_part
from nemutator_controller.app.rolling import rolling_part
from nemutator_controller.app.sizing import sizing_part
from nemutator_controller.app.streams import streams_part
from nemutator_controller.app.tokens import token_reading, tokens_part
from nemutator_controller.app.windows import windows_part
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.database.access import Database
from nemutator_controller.settings import BrainSettings
from nemutator_controller.sizing.usages import Usages
from nemutator_controller.usage.sql import make_room


async def run(settings: BrainSettings, stop: asyncio.Event) -> None:
    """Be the brain until *stop*."""
    process = real_process(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        cluster = None
        if settings.cluster:
            cluster = await stack.enter_async_context(in_cluster(settings, process))
        database = stack.enter_context(contextlib.closing(_database(settings, process)))
        context = BrainContext(
            settings=settings, process=process, database=database, cluster=cluster
        )
        console: LocalConsole | ClusterConsole
        console = ClusterConsole(context, cluster) if cluster else LocalConsole(context)
        parts = brain_parts(context, console.url)
        routes = [route for part in parts for route in part.routes]
        uplink = [route for part in parts for route in part.uplink]
        listeners = [
            local_listener(context, [*routes, *uplink, *console.local_routes]),
            console.listener(routes),
        ]
        if cluster:
            listeners.append(uplink_listener(context, cluster, uplink))
        for part in parts:
            await part.restore()
        await console.restore()
        tasks = [task for part in parts for task in part.tasks]
        if cluster:
            tasks += cluster.tasks()
        tasks += [listener.task for listener in listeners]
        add_metrics_listener(process, settings.metrics)
        add_tasks(process.supervisor, tasks)
        async with bound(listeners):
            await process.supervisor.run(stop)


def brain_parts(context: BrainContext, console_url: Callable[[], str]) -> list[Part]:
    nodes = Nodes(most=context.settings.most_nodes)
    findings = Findings()
    usages = Usages(most=context.settings.sized_containers)
    tokens, evictions = token_reading(context), eviction_queue(context)
    parts = [
        nodes_part(context, nodes, usages),
        sizing_part(context, usages, findings),
        profiles_part(context, nodes, console_url),
        ageing_part(context, findings),
        grants_part(context),
        evictions_part(context, evictions),
        rolling_part(context),
        journal_part(context, tokens),
        tokens_part(tokens),
        following_part(context, tokens, evictions),
        windows_part(context),
        images_part(context),
    ]
    streams = {name: stream for part in parts for name, stream in part.streams.items()}
    return [*parts, streams_part(context, streams)]


def _database(settings: BrainSettings, process: Process) -> Database:
    return Database(
        process.directory.database,
        largest_bytes=settings.database_bytes,
        make_room=make_room,
        process=process,
    )
