"""Sockets in directories that belong to pods, made without trust in what is there already."""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakValueDictionary

from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.serving.connection import Connection
from nemutator_common.serving.fair_share import HeldConnections
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.sockets import ListeningSocket
from nemutator_common.serving.traffic import Traffic

from nemutator_agent.credentials.connection_peer import PeerAcceptance
from nemutator_agent.credentials.files.files_api import FilesApi
from nemutator_agent.credentials.files.following import FileFollower
from nemutator_agent.credentials.files.pod_folder import PodFolder
from nemutator_agent.credentials.files.room import FileRoom
from nemutator_agent.credentials.http_api import HttpApi, refusals_as_json
from nemutator_agent.credentials.http_refusals import UNHANDLED
from nemutator_agent.credentials.plain_secrets import PlainSecrets
from nemutator_agent.credentials.ports import PodCallerHandler, PodListener
from nemutator_agent.credentials.rate_limits import RateLimit
from nemutator_agent.credentials.rotation.environment_following import EnvironmentFollower
from nemutator_agent.credentials.rotation.watch_api import MOST_EACH, WatchApi
from nemutator_agent.credentials.value_digests import ValueDigests
from nemutator_agent.credentials.vault_api.api_request import LARGEST_BODY
from nemutator_agent.credentials.vault_api.endpoint import vault_first
from nemutator_agent.publications import VolumeDirectory

NAME = "pods"
"""The name of all of them in metrics: there would be no end of labels with one for each pod."""

MODE = 0o666
"""Each process of the pod may connect, with any uid; the kernel shows which process it is."""

LIMITS = Limits(
    head_bytes=8 << 10, headers=32, body_bytes=LARGEST_BODY, connections=32, request_s=20.0
)
"""Only clients of Vault send bodies. One pod whose callers are all hostile holds 2 MiB of answers at most:
30 unread ones of 16 KiB, and `LARGE_AT_ONCE` of 320 KiB, in two forms each; and 4 MiB of requests."""

LARGE_AT_ONCE = 2

COST_OF_CROWDED = 5
"""A connection too many takes as much of the pace as so many others: to turn it away, or to end another for
it, costs more than to serve one, and who is over the limit comes again at once."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class _PodShare:
    """What the callers of all sockets of one pod hold together."""

    pace: RateLimit
    """Of new connections."""
    connections: HeldConnections[Connection] = field(default_factory=HeldConnections)
    large: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LARGE_AT_ONCE))

    def pause_s(self, now: float, *, crowded: bool) -> float:
        """How long to wait after a connection, and after one too many longer."""
        if crowded:
            self.pace.spend(COST_OF_CROWDED - 1)
        return self.pace.wait_s(now)


class PodSockets:
    """Opens the sockets of pods, which are one listener in metrics."""

    def __init__(
        self, process: Process, peers: PeerAcceptance, digests: ValueDigests, *, rate: float
    ) -> None:
        """Each pod may make *rate* requests a second, and no more connections for each of them than two."""
        self._rate = 2 * rate
        self._process = process
        self._peers = peers
        self._digests = digests
        self._traffic = Traffic(NAME, process.meter)
        self._room = FileRoom()
        self._shares: WeakValueDictionary[str, _PodShare] = WeakValueDictionary()

    def open(
        self, directory: VolumeDirectory, pod_uid: str, handler: PodCallerHandler
    ) -> PodListener:
        """Listen on `agent.sock` in *directory*, and in no other that is at its path."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            folder = os.open(directory.path, flags)
        except (OSError, ValueError) as error:
            raise _unusable(directory, getattr(error, "strerror", None) or str(error)) from error
        try:
            if not _is(directory, folder):
                raise _unusable(
                    directory, "it is another directory than the one that mount has made"
                )
            share = self._shares.get(pod_uid)
            if share is None:
                pace = RateLimit(rate=self._rate, burst=LIMITS.connections + 2 * self._rate)
                share = self._shares[pod_uid] = _PodShare(pace)
            return _PodSocket(
                self._process,
                PodFolder(folder, user=handler.file_owner, digests=self._digests),
                handler,
                self._traffic,
                share=share,
                peers=self._peers,
                room=self._room,
            )
        except BaseException:
            os.close(folder)
            raise


def _is(directory: VolumeDirectory, folder: int) -> bool:
    status = os.fstat(folder)
    return (status.st_dev, status.st_ino) == (directory.device, directory.inode)


def _unusable(directory: VolumeDirectory, why: str) -> OperatorError:
    return OperatorError(
        f"no socket can be made in {directory.path[:200]!r}: {why}",
        remedy="mount and credentials must see the same directory under the same path: "
        "mountPropagation: HostToContainer for the directory of volumes",
        code=ExitCode.DATA_DIRECTORY,
    )


class _PodSocket:
    def __init__(
        self,
        process: Process,
        files: PodFolder,
        handler: PodCallerHandler,
        traffic: Traffic,
        *,
        share: _PodShare,
        peers: PeerAcceptance,
        room: FileRoom,
    ) -> None:
        self._share = share
        self._peers = peers
        # By the descriptor, because the path could lead elsewhere now, and may be longer than the
        # address of a socket can be.
        address = UnixAddress(Path(f"/proc/self/fd/{files.volume}") / names.POD_SOCKET)
        self._listening = ListeningSocket(address, mode=MODE, alone=True)
        self._folder: int | None = files.volume
        self._files = FileFollower(handler, files, process, room)
        self._environment = EnvironmentFollower(handler, process)
        self._after_rotation = handler.after_rotation
        self._server = HttpServer(
            process=process,
            name=NAME,
            address=address,
            routes=[
                *HttpApi(handler, large=share.large).routes(),
                *FilesApi(self._files).routes(),
                *WatchApi(handler, process, most=MOST_EACH).routes(),
            ],
            middlewares=[
                refusals_as_json(process),
                vault_first(handler, process, large=share.large),
            ],
            limits=LIMITS,
            listening=self._listening,
            traffic=traffic,
            held=share.connections,
            pace=lambda crowded: share.pause_s(process.clock.monotonic(), crowded=crowded),
            accept_peer=peers.of(self._listening.socket),
            error_details=UNHANDLED,
            plain=PlainSecrets(handler).answer,
        )

    def listens_in(self, directory: VolumeDirectory) -> bool:
        folder = self._folder
        return folder is not None and _is(directory, folder) and self._listening.is_in_place()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._files.run(), name="files of a pod")
            tasks.create_task(self._environment.run(), name="variables of a pod")
            tasks.create_task(self._after_rotation.run(), name="signals of a pod")
            await self._server.run()

    def close(self) -> None:
        if self._folder is not None:
            self._peers.leave(self._listening.socket)
            self._listening.close()
            os.close(self._folder)
            self._folder = None
