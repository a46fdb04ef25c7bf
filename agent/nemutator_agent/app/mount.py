"""`nemutator-agent mount`, put together. Nothing here imports aiohttp: memory on every node."""

import asyncio
import os
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock

from nemutator_agent.mount.credentials_socket import CredentialsSocket
from nemutator_agent.mount.files import RecordFiles
from nemutator_agent.mount.kubelet_grpc import KubeletCalls
from nemutator_agent.mount.linux_mounts import LinuxMounts
from nemutator_agent.mount.publishing import VolumePublisher
from nemutator_agent.settings import MountSettings


async def run(settings: MountSettings, stop: asyncio.Event) -> None:
    """`nemutator-agent mount`: publish what kubelet asks for, until *stop*."""
    kubelet_root = os.fspath(settings.kubelet_root)
    volumes = settings.plugin_directory / "volumes"
    records = RecordFiles(volumes, kubelet_root=kubelet_root)
    publisher = VolumePublisher(
        LinuxMounts(volumes, kubelet_root=settings.kubelet_root),
        CredentialsSocket(settings.credentials),
        records,
        clock=SystemClock(),
    )
    calls = KubeletCalls(
        publisher,
        driver=settings.driver,
        node=settings.node or os.uname().nodename,
        kubelet_root=kubelet_root,
        plugin_socket=settings.plugin_directory / "csi.sock",
        registration_socket=settings.registry_directory / f"{settings.driver}-reg.sock",
    )
    _prepare(settings, records)
    publisher.restore()
    supervisor = Supervisor(stop_s=3.0)
    await calls.bind()
    supervisor.add("notify credentials", publisher.run)
    supervisor.add("serve kubelet", calls.run)
    await supervisor.run(stop)


def _prepare(settings: MountSettings, records: RecordFiles) -> None:
    """Make our directories in kubelet's, which must be there: else we would make another one."""
    try:
        if not settings.registry_directory.is_dir():
            raise FileNotFoundError(f"there is no {settings.registry_directory}")
        Path(settings.plugin_directory).mkdir(mode=0o700, parents=True, exist_ok=True)
        records.prepare()
    except OSError as error:
        raise OperatorError(
            f"kubelet's directory cannot be used: {error.strerror or error}",
            remedy="name kubelet's --root-dir with the setting kubelet_root, and mount it in this "
            "container with mountPropagation: Bidirectional",
            code=ExitCode.SETTINGS,
        ) from error
