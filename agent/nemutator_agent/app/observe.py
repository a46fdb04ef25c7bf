"""`nemutator-agent observe`, put together."""

import asyncio
import os
import resource
import secrets

from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.real_process import real_process
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.operations_server import add_metrics_listener
from nemutator_common.serving.server import HttpServer
from nemutator_common.shipping.brain_http import brain_over_http
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.links_over_http import ReportsOverHttp
from nemutator_common.shipping.streams import report_stream

from nemutator_agent.app.profiling import profiling
from nemutator_agent.app.run_queues import KernelRunQueues
from nemutator_agent.app.windows import SnapshotProcesses, add_windows
from nemutator_agent.app.workers import examination_worker
from nemutator_agent.inspection.executables import Executables
from nemutator_agent.inspection.proc_exe import ProcExecutables
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.flow_reading import FlowReader
from nemutator_agent.usage.pod_sockets import PodSocketTables
from nemutator_agent.usage.polling import UsagePoller
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_agent.usage.run_delays import UNTIMED

_OTHER_FILES = 256
"""Open files that sockets, executables on their way to the worker, and libraries need."""

_LIMITS = Limits(body_bytes=4 << 10, connections=32, drain_s=0.5)
"""For probes and scrapes, which send no body: all callers together can hold 9 MiB at most."""

_BUFFERED_BYTES = 8 << 20
"""Bytes of reports that wait: 20 minutes of a machine with a hundred processes."""


async def run(settings: ObserveSettings, stop: asyncio.Event) -> None:
    """`nemutator-agent observe`: take snapshots and report them, until *stop*."""
    process = real_process(settings)
    supervisor = process.supervisor
    # The reader keeps a quarter as many again for what it reads seldom.
    files = CachedFiles(most=min(settings.descriptors, _files_left()) * 4 // 5)
    queues = KernelRunQueues(process) if settings.run_queues else None
    reader = ProcfsReader(
        files,
        most_processes=settings.processes,
        most_groups=settings.groups,
        seldom_s=settings.seldom_s,
        members_s=settings.members_s,
        process_events=True,
        queues=queues or UNTIMED,
    )
    worker = examination_worker()
    executables = Executables(ProcExecutables(reader.started_ticks), worker, process)
    server = HttpServer(
        process=process,
        name=names.OBSERVE,
        address=UnixAddress(process.directory.socket(names.OBSERVE)),
        routes=(),
        operations=ALL_OPERATIONS,
        limits=_LIMITS,
        # The directory is private; and we may be root on behalf of an ordinary user.
        socket_mode=0o666,
    )
    async with brain_over_http(settings, process) as brain:
        node = settings.name_of(os.uname().nodename)
        uplink = report_stream(
            process,
            ReportsOverHttp(brain),
            Buffer(most=settings.buffered_reports, most_bytes=_BUFFERED_BYTES),
            node=node,
            epoch=secrets.token_hex(16),
            call_s=settings.call_s,
        )
        poller = UsagePoller(
            reader,
            executables,
            uplink,
            process,
            interval_s=settings.snapshot_every_s,
            summary_s=settings.summary_s,
        )
        if settings.flows:
            flows = FlowReader(
                PodSocketTables(reader.started_ticks),
                lambda: poller.latest[0] if poller.latest else None,
                process,
                in_thread=asyncio.to_thread,
                every_s=settings.flow_s,
            )
            poller.flows = flows
            supervisor.add("read flows", flows.run)
        if queues is not None:
            poller.queues = queues
            supervisor.add("time run queues", queues.run)
        await server.bind()
        add_metrics_listener(process, settings.metrics)
        supervisor.add("serve", server.run)
        supervisor.add("ship reports", uplink.run)
        supervisor.add("inspect executables", executables.run)
        supervisor.add("take snapshots", poller.run)
        try:
            with profiling(process, brain, settings, node=node) as profiler:
                if settings.windows:
                    add_windows(
                        process,
                        brain,
                        settings,
                        node=node,
                        processes=SnapshotProcesses(poller, executables),
                        profiler=profiler,
                        started_ticks=reader.started_ticks,
                    )
                await supervisor.run(stop)
        finally:
            worker.stop()
            reader.close()


def _files_left() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(soft - _OTHER_FILES, soft // 2)
