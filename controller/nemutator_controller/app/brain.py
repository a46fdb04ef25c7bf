"""`nemutator-controller brain`, put together: a list of parts, and the listeners that serve them."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from functools import partial

from nemutator_common.process import Process
from nemutator_common.real_process import real_process
from nemutator_common.serving.operations_server import add_metrics_listener

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.app.ageing import ageing_part
from nemutator_controller.app.api_document import api_document_part
from nemutator_controller.app.buffers import buffers_part
from nemutator_controller.app.cluster import in_cluster
from nemutator_controller.app.console import ClusterConsole, LocalConsole
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import eviction_queue, evictions_part
from nemutator_controller.app.exports import ExportedParts, exports_part
from nemutator_controller.app.following import following_part
from nemutator_controller.app.grants import grants_part
from nemutator_controller.app.history import history_part, history_saver, usage_history
from nemutator_controller.app.hourly import hourly_requests, hours_filling_part
from nemutator_controller.app.images import images_part
from nemutator_controller.app.inventory import (
    LevelsOfUsages,
    counted_cluster,
    counted_machine,
    inventory_part,
)
from nemutator_controller.app.journal import admission_replicas, journal_part
from nemutator_controller.app.keeping_aside import aside_keeping
from nemutator_controller.app.leadership import refuse_many_on_a_file
from nemutator_controller.app.listeners import bound, local_listener, uplink_listener
from nemutator_controller.app.neighbours import (
    neighbour_assessments,
    neighbour_learner,
    neighbours_part,
)
from nemutator_controller.app.node_marks import node_marks_part
from nemutator_controller.app.nodes import nodes_part, report_pace
from nemutator_controller.app.oversell import oversell_part
from nemutator_controller.app.packing import EmptyingMarks, node_emptying, packing_part
from nemutator_controller.app.parts import Part, add_tasks
from nemutator_controller.app.placement import kept_snapshot, placement_part
from nemutator_controller.app.pod_selection import pod_selection_part, selector_watching
from nemutator_controller.app.profiles import profiles_part
from nemutator_controller.app.rolling import rolling_part
from nemutator_controller.app.scaling import scaling_part
from nemutator_controller.app.seasons import brain_seasons, seasons_part
from nemutator_controller.app.sizing import LeakingMemory, LocalAdvice, advice_knobs, sizing_part
from nemutator_controller.app.streams import streams_part
from nemutator_controller.app.tokens import token_reading, tokens_part
from nemutator_controller.app.units import units_part
from nemutator_controller.app.updating import updating_part
from nemutator_controller.app.usage_source import LearningTurn, usage_source_part
from nemutator_controller.app.windows import windows_part
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.database.access import Database
from nemutator_controller.database.engines import Engines
from nemutator_controller.database.sqlite import open_sqlite
from nemutator_controller.database.start_failures import explained_at_the_start
from nemutator_controller.history.learning import UsageHistoryLearner
from nemutator_controller.inventory.current_use import CurrentUse
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.loop_watching import watch_loop
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.usages import Usages
from nemutator_controller.usage.sql import make_room


async def run(settings: BrainSettings, stop: asyncio.Event) -> None:
    """Be the brain until *stop*."""
    refuse_many_on_a_file(settings, socket.gethostname())
    process = real_process(settings)
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
        with explained_at_the_start():
            for part in parts:
                await part.restore()
            await console.restore()
        tasks = [task for part in parts for task in part.tasks]
        if cluster:
            tasks = cluster.leadership.arranged([*tasks, *cluster.tasks()])
        tasks += [listener.task for listener in listeners]
        add_metrics_listener(process, settings.metrics)
        process.supervisor.add("watch loop", partial(watch_loop, process))
        add_tasks(process.supervisor, tasks)
        async with bound(listeners):
            await process.supervisor.run(stop)


def brain_parts(context: BrainContext, console_url: Callable[[], str]) -> list[Part]:
    nodes = Nodes(most=context.settings.most_nodes)
    findings, clock = Findings(), context.process.clock
    usages = Usages(most=context.settings.sized_containers, knobs=advice_knobs(context.settings))
    usage = usage_history(context)
    history = history_saver(context, usage)
    hourly = hourly_requests(context, usage)
    tokens, evictions = token_reading(context), eviction_queue(context)
    pace, current = report_pace(context, nodes), CurrentUse(most_nodes=context.settings.most_nodes)
    learner = UsageHistoryLearner(usage, context.process)
    selectors = selector_watching(context)
    turn = LearningTurn(None if context.shared else 0)
    flows = KeptFlows()
    seasons = brain_seasons(context)
    if evictions is not None:
        evictions.held = seasons.holds_evictions
    neighbours = neighbour_learner(context)
    assessments = neighbour_assessments(context, neighbours)
    replicas = admission_replicas(context)
    levels = LevelsOfUsages(usages, clock)
    counted = counted_cluster(context, current, levels)
    counted_here = counted or counted_machine(context, nodes, usages, levels)
    places = kept_snapshot(context, flows, assessments, seasons, counted, levels)
    emptying = node_emptying(context, counted, evictions, seasons)
    advice = LocalAdvice(usages, LeakingMemory(findings), clock)
    parts = [
        nodes_part(
            context,
            nodes,
            usages,
            pace,
            [learner, *seasons.consumers],
            watchers=[current, neighbours, *seasons.watchers],
            beside=[history],
            flows=flows,
            on_turn=turn.become,
        ),
        history_part(context, usage, history),
        inventory_part(context, nodes, pace, counted_here, flows),
        sizing_part(context, usages, findings, hourly),
        usage_source_part(context, usages, turn),
        hours_filling_part(context, hourly),
        profiles_part(context, nodes, console_url),
        ageing_part(context, findings),
        neighbours_part(
            context, assessments, aside_keeping(context, assessments, evictions, seasons)
        ),
        placement_part(context, places),
        grants_part(context),
        evictions_part(context, evictions),
        rolling_part(context, seasons.finding.season),
        journal_part(context, tokens, replicas, advice, seasons),
        units_part(context, advice),
        tokens_part(tokens),
        following_part(context, tokens, evictions, seasons.in_season("MutationPolicy"), selectors),
        pod_selection_part(selectors),
        updating_part(context, usages, findings, replicas, seasons, hourly),
        seasons_part(context, seasons, usages),
        buffers_part(context, seasons),
        scaling_part(context, seasons, counted),
        node_marks_part(
            context, nodes, places, seasons, [EmptyingMarks(emptying)] if emptying else []
        ),
        packing_part(context, emptying),
        oversell_part(context, nodes, counted, levels, seasons),
        exports_part(context, ExportedParts(nodes, usages, usage, pace, counted_here, findings)),
        windows_part(context),
        images_part(context),
        api_document_part(),
    ]
    streams = {name: stream for part in parts for name, stream in part.streams.items()}
    return [*parts, streams_part(context, streams)]


def _database(settings: BrainSettings, process: Process) -> Database:
    return Database(_engines(settings, process), make_room=make_room, process=process)


def _engines(settings: BrainSettings, process: Process) -> Engines:
    if not settings.database:
        return open_sqlite(process.directory.database, largest_bytes=settings.database_bytes)
    # Imported here: most brains have no PostgreSQL, and its client is an extra.
    from nemutator_controller.database.postgres import open_postgres, server_of

    server = server_of(settings.database, settings.database_password_file, settings.cluster_name)
    return open_postgres(server)
