"""Mount is killed at every step of what it does, with real directories, sockets and credentials: what
the next life makes of it is what kubelet asked for."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from nemutator_agent.mount.credentials_socket import CredentialsSocket
from nemutator_agent.mount.files import RecordFiles
from nemutator_agent.mount.publishing import VolumePublisher
from nemutator_common import names

from tests.fakes.mounted_directories import KilledError, Life, MountedDirectories
from tests.fakes.mounting import ROOT, UID, a_volume, target_of
from tests.fakes.pod_sockets import Everybody, Node, call
from tests.fakes.process import fake_process

Work = Callable[[VolumePublisher], Awaitable[None]]

FEWEST = 6
"""Steps that each work takes at least: fewer would mean that nothing was killed."""


class Machine:
    """One node: what is in its directories and in the credentials process outlives mount."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.volumes = folder / "volumes"
        self.mounts = MountedDirectories(self.volumes)
        self.records = RecordFiles(folder / "records", kubelet_root=ROOT)
        self.records.prepare()
        self.credentials = Node(folder, attestor=Everybody(lambda _: UID))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Machine"]:
        try:
            async with self.credentials.running():
                yield self
        finally:
            self.mounts.close()

    async def live(self, work: Work, *, steps: int | None = None) -> bool:
        """One life of mount; returns whether it was killed."""
        life = Life(steps)
        publisher = VolumePublisher(
            life.port(self.mounts),
            life.port(CredentialsSocket(self.credentials.private)),
            life.port(self.records),
            fake_process(),
        )
        try:
            publisher.restore()
            await work(publisher)
        except KilledError:
            return True
        return False

    async def pod_is_served(self) -> bool:
        seen = self.mounts.seen(target_of()) / "agent.sock"
        status, document = await call(seen, "/v1/whoami")
        return (status, document["uid"]) == (200, UID)

    def sockets(self) -> float:
        return self.credentials.setup.meter.value(names.POD_SOCKETS)

    def left(self) -> list[str]:
        left = [*self.volumes.glob("*"), *self.records.folder.iterdir()]
        return [path.name for path in left]


async def publish(publisher: VolumePublisher) -> None:
    await publisher.publish(a_volume())


async def unpublish(publisher: VolumePublisher) -> None:
    await publisher.unpublish("csi-1", target_of())


async def catch_up(publisher: VolumePublisher) -> None:
    await publisher.catch_up()


async def _killed_at_each_step(
    folder: Path, before: list[Work], work: Work, after: Callable[[Machine], Awaitable[None]]
) -> None:
    for steps in itertools.count():
        async with Machine(folder / str(steps)).running() as machine:
            for one in before:
                assert not await machine.live(one)
            killed = await machine.live(work, steps=steps)
            await after(machine)
        if not killed:
            assert steps > FEWEST
            return


async def test_a_pod_has_its_socket_wherever_its_publication_was_killed(tmp_path: Path) -> None:
    async def kubelet_tries_again(machine: Machine) -> None:
        assert not await machine.live(publish)
        assert await machine.pod_is_served()

    await _killed_at_each_step(tmp_path, [], publish, kubelet_tries_again)


async def test_a_pod_that_runs_keeps_its_socket_wherever_a_republication_was_killed(
    tmp_path: Path,
) -> None:
    async def still(machine: Machine) -> None:
        assert await machine.pod_is_served()
        assert not await machine.live(catch_up)
        assert await machine.pod_is_served()

    await _killed_at_each_step(tmp_path, [publish], publish, still)


async def test_credentials_that_are_new_serve_all_wherever_mount_was_killed(tmp_path: Path) -> None:
    for steps in itertools.count():
        machine = Machine(tmp_path / str(steps))
        async with machine.credentials.running():
            assert not await machine.live(publish)
        machine.credentials = Node(machine.credentials.folder, attestor=Everybody(lambda _: UID))
        async with machine.running():
            killed = await machine.live(catch_up, steps=steps)
            assert not await machine.live(catch_up)
            assert await machine.pod_is_served()
        if not killed:
            assert steps > FEWEST
            return


async def test_nothing_is_left_of_a_volume_wherever_its_end_was_killed(tmp_path: Path) -> None:
    async def kubelet_tries_again(machine: Machine) -> None:
        assert not await machine.live(unpublish)
        assert (machine.mounts.published, machine.left()) == ({}, [])
        assert machine.sockets() == 0

    await _killed_at_each_step(tmp_path, [publish], unpublish, kubelet_tries_again)


async def test_a_pod_that_never_came_leaves_nothing_wherever_its_publication_was_killed(
    tmp_path: Path,
) -> None:
    """The pod was deleted while mount was away, and kubelet has forgotten the volume."""

    async def nobody_tries_again(machine: Machine) -> None:
        if machine.mounts.published:
            return  # it was published, and kubelet will unpublish it
        assert not await machine.live(catch_up)
        assert machine.left() == []
        assert machine.sockets() == 0

    await _killed_at_each_step(tmp_path, [], publish, nobody_tries_again)
