"""`nemutator-agent mount`, put together. It imports no aiohttp, to save memory on every node."""

import asyncio
import logging
import os
from dataclasses import replace
from pathlib import Path

from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.real_process import real_process
from nemutator_common.serving.operations_server import OperationsServer, add_metrics_listener

from nemutator_agent.mount import cgroup_namespace
from nemutator_agent.mount.credentials_socket import CredentialsSocket
from nemutator_agent.mount.files import RecordFiles
from nemutator_agent.mount.kubelet_grpc import KubeletCalls
from nemutator_agent.mount.kubelet_root import USUAL_PLACES, find_kubelet_root
from nemutator_agent.mount.linux_mounts import LinuxMounts
from nemutator_agent.mount.publishing import VolumePublisher
from nemutator_agent.settings.mount import MountSettings

log = logging.getLogger(__name__)


async def run(settings: MountSettings, stop: asyncio.Event) -> None:
    """`nemutator-agent mount`: publish what kubelet asks for, until *stop*."""
    process = real_process(settings)
    operations = OperationsServer(
        process=process, address=UnixAddress(process.directory.socket(names.MOUNT)), name="local"
    )
    kubelet_root = os.fspath(Path(settings.kubelet_root or find_kubelet_root() or USUAL_PLACES[0]))
    settings = replace(settings, kubelet_root=kubelet_root)
    log.info("kubelet_root", {names.PATH: kubelet_root})
    volumes = settings.plugin_directory / "volumes"
    records = RecordFiles(settings.plugin_directory / "records", kubelet_root=kubelet_root)
    publisher = VolumePublisher(
        LinuxMounts(volumes, kubelet_root=Path(kubelet_root), driver=settings.driver),
        CredentialsSocket(settings.credentials),
        records,
        process,
    )
    calls = KubeletCalls(
        publisher,
        process,
        driver=settings.driver,
        node=settings.node or os.uname().nodename,
        kubelet_root=kubelet_root,
        plugin_socket=settings.plugin_directory / "csi.sock",
        registration_socket=settings.registry_directory / f"{settings.driver}-reg.sock",
    )
    _prepare(settings, records)
    _see_the_machines_groups()
    publisher.restore()
    supervisor = process.supervisor
    operations.bind()
    supervisor.add("serve probes", operations.run)
    add_metrics_listener(process, settings.metrics)
    await calls.bind()
    supervisor.add("notify credentials", publisher.run)
    supervisor.add("serve kubelet", calls.run)
    await supervisor.run(stop)


def _prepare(settings: MountSettings, records: RecordFiles) -> None:
    """Make our directories in kubelet's. That one must be there: kubelet would not look into another one."""
    try:
        if not settings.registry_directory.is_dir():
            raise FileNotFoundError(f"there is no {settings.registry_directory}")
        settings.plugin_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        records.prepare()
    except OSError as error:
        on_the_node = find_kubelet_root(root="/proc/1/root")
        raise OperatorError(
            f"kubelet's directory cannot be used: {error.strerror or error}",
            remedy="name kubelet's --root-dir with the setting kubelet_root, and mount it in this "
            "container with mountPropagation: Bidirectional"
            + (f"; on this node it seems to be {on_the_node}" if on_the_node else ""),
            code=ExitCode.SETTINGS,
        ) from error


def _see_the_machines_groups() -> None:
    try:
        if cgroup_namespace.join_the_machines():
            log.info("cgroup_namespace_left")
    except OSError as error:
        # Credentials then may need their setting pods_root, and their refusals name it.
        log.warning("cgroup_namespace_kept", {names.ERROR: str(error)})
