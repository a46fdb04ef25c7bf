import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from nemutator_agent.credentials.files.following import LARGEST_TOGETHER, FileFollower
from nemutator_agent.credentials.files.room import FileRoom
from nemutator_agent.credentials.http_refusals import HttpRefusal, too_many
from nemutator_agent.credentials.ports import ConnectedPeer
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.pod_folders import MemoryPodFolder
from tests.fakes.process import fake_process


class CountedRotations:
    """A `FollowsRotation`."""

    def __init__(self) -> None:
        self.count = 0
        self.is_due = asyncio.Event()

        self.is_changed = False

    def due(self) -> None:
        self.is_changed = False
        self.count += 1
        self.is_due.set()

    def due_if_changed(self) -> None:
        if self.is_changed:
            self.due()

    async def run(self) -> None:
        raise NotImplementedError


class Pod:
    """A `PodCallerHandler` of a pod that declares `db`."""

    def __init__(self, folder: MemoryPodFolder) -> None:
        self.clock = ManualClock()
        self.meter = MemoryMeter(changed=self._counted)
        self.changes = ChangeFeed(self.clock)
        self.folder = folder
        self.after_rotation = CountedRotations()
        self.room = FileRoom()
        self.value = "one"
        self.reads = 0
        self.refused: HttpRefusal | None = None
        self._progress = asyncio.Event()

    def admit(self, peer: ConnectedPeer) -> Any:
        raise NotImplementedError

    def secret_at_hand(self, peer: ConnectedPeer, name: str, *, most: int) -> Any:
        raise NotImplementedError

    async def file_values(self) -> Mapping[str, Secret]:
        self.reads += 1
        if self.refused is not None:
            raise self.refused
        return {"db": Secret(self.value)}

    @property
    def file_owner(self) -> int | None:
        raise NotImplementedError

    async def follow_before(self) -> None:
        raise NotImplementedError

    def follower(self, process: Process) -> FileFollower:
        return FileFollower(self, self.folder, process, self.room)

    def change(self, value: str) -> None:
        self.value = value
        self.after_rotation.is_changed = True
        self.changes.announce("db", None)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        process = fake_process(clock=self.clock, meter=self.meter)
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.follower(process).run())
            yield
            running.cancel()

    async def counted(self, result: str, times: int = 1) -> None:
        while self.meter.value(names.FILES_WRITTEN, result=result) < times:
            self._progress.clear()
            await self._progress.wait()

    def _counted(self) -> None:
        self._progress.set()


async def test_files_that_are_there_follow_each_change() -> None:
    pod = Pod(MemoryPodFolder({"db": "one"}))
    async with pod.running():
        for times, value in ((1, "two"), (2, "three")):
            pod.change(value)
            await pod.counted("written", times)
            assert pod.folder.files == {"db": value}
            assert pod.after_rotation.count == times


async def test_a_new_life_writes_only_what_has_changed_meanwhile() -> None:
    pod = Pod(MemoryPodFolder({"db": "one"}))
    async with pod.running():
        await asyncio.sleep(0)
    assert (pod.reads, pod.folder.writes, pod.after_rotation.count) == (1, 0, 0)
    pod = Pod(MemoryPodFolder({"db": "zero"}))
    async with pod.running():
        await pod.counted("written")
    assert pod.folder.files == {"db": "one"}
    assert pod.after_rotation.count == 1


async def test_what_an_earlier_life_has_written_and_not_acted_upon_is_acted_upon() -> None:
    pod = Pod(MemoryPodFolder({"db": "one"}))
    pod.after_rotation.is_changed = True
    async with pod.running():
        await pod.after_rotation.is_due.wait()
    assert (pod.folder.writes, pod.after_rotation.count) == (0, 1)


async def test_nothing_is_read_for_a_pod_without_files() -> None:
    pod = Pod(MemoryPodFolder())
    async with pod.running():
        await asyncio.sleep(0)
        assert (pod.reads, pod.after_rotation.count) == (0, 0)
        pod.change("one")
        await pod.after_rotation.is_due.wait()
        assert pod.reads == 0
        pod.folder.files = {"db": "one"}
        pod.change("two")
        await pod.counted("written")


async def test_what_fails_is_tried_again() -> None:
    pod = Pod(MemoryPodFolder({"db": "zero"}))
    pod.refused, pod.folder.full = too_many(), True
    async with pod.running():
        await pod.counted("rate")
        pod.refused = None
        await pod.clock.until_sleeping()
        await pod.clock.advance(60)
        await pod.counted("disk")
        pod.folder.full = False
        await pod.clock.until_sleeping()
        await pod.clock.advance(60)
        await pod.counted("written")
    assert pod.folder.files == {"db": "one"}


async def test_files_for_one_user_and_files_that_are_too_large_stay_as_they_are() -> None:
    pod = Pod(MemoryPodFolder({"db": "zero"}))
    pod.folder.is_private = True
    async with pod.running():
        await pod.counted("mode")
        pod.folder.is_private = False
        pod.change("x" * (LARGEST_TOGETHER + 1))
        await pod.counted("size")
    assert pod.after_rotation.count == 0
    assert pod.folder.files == {"db": "zero"}


async def test_the_first_files_are_no_rotation_and_come_whole_or_with_the_reason() -> None:
    pod = Pod(MemoryPodFolder())
    follower = pod.follower(fake_process(clock=pod.clock, meter=pod.meter))
    pod.refused = too_many()
    with pytest.raises(HttpRefusal) as raised:
        await follower.write(pod.file_values)
    assert (raised.value.step, pod.folder.files) == ("rate", None)
    pod.refused, pod.folder.full = None, True
    with pytest.raises(HttpRefusal, match="No space left") as raised:
        await follower.write(pod.file_values)
    assert (raised.value.status, raised.value.step) == (503, "disk")
    pod.folder.full = False
    assert await follower.write(pod.file_values) == ("db",)
    assert (pod.folder.files, pod.after_rotation.count) == ({"db": "one"}, 0)
    # Asked again, as by a container that is made again, nothing is written.
    await follower.write(pod.file_values)
    assert pod.folder.writes == 1
    # Whoever asks first after a change does not keep the others from hearing of it.
    pod.value = "two"
    await follower.write(pod.file_values)
    assert pod.after_rotation.count == 1
    pod.value = "x" * (LARGEST_TOGETHER + 1)
    with pytest.raises(HttpRefusal, match="256 KiB together") as raised:
        await follower.write(pod.file_values)
    assert (raised.value.status, raised.value.step) == (400, "size")
    # Nobody else would see it of a pod that asks.
    results = {"rate": 1, "disk": 1, "size": 1, "written": 2}
    for result, times in results.items():
        assert pod.meter.value(names.FILES_WRITTEN, result=result) == times


async def test_files_that_could_not_be_given_to_the_pods_user_are_there_and_counted() -> None:
    pod = Pod(MemoryPodFolder())
    pod.folder.is_shared = True
    follower = pod.follower(fake_process(clock=pod.clock, meter=pod.meter))
    assert await follower.write(pod.file_values) == ("db",)
    for result in ("written", "owner"):
        assert pod.meter.value(names.FILES_WRITTEN, result=result) == 1


async def test_without_room_on_the_node_a_pod_is_refused_and_others_stay() -> None:
    first, second = Pod(MemoryPodFolder()), Pod(MemoryPodFolder())
    first.room = second.room = FileRoom(most=5)
    files = [
        pod.follower(fake_process(clock=pod.clock, meter=pod.meter)) for pod in (first, second)
    ]
    await files[0].write(first.file_values)
    assert first.meter.value(names.FILES_BYTES) == 3
    with pytest.raises(HttpRefusal) as raised:
        await files[1].write(second.file_values)
    assert (raised.value.status, raised.value.step, second.folder.files) == (503, "room", None)
    first.room.leave(files[0])
    await files[1].write(second.file_values)
    assert second.folder.files == {"db": "one"}
