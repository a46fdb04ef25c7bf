import asyncio
from dataclasses import dataclass, field, replace

import pytest
from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.publishing import (
    MOST_VOLUMES,
    PART,
    POLL_S,
    TooManyVolumesError,
    VolumePublisher,
)
from nemutator_agent.mount.records import VolumeRecord
from nemutator_agent.mount.volumes import InvalidVolumeError
from nemutator_agent.mount.waiting_volumes import AGAIN
from nemutator_common import names
from nemutator_common.readiness import Readiness

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.mounting import (
    FakeCredentials,
    FakeMounts,
    FakeRecords,
    a_volume,
    target_of,
)
from tests.fakes.process import fake_process

OTHER = "ffffffff-0000-4111-8222-333344445555"


@dataclass
class Node:
    mounts: FakeMounts = field(default_factory=FakeMounts)
    credentials: FakeCredentials = field(default_factory=FakeCredentials)
    records: FakeRecords = field(default_factory=FakeRecords)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    readiness: Readiness = field(default_factory=Readiness)

    def publisher(self) -> VolumePublisher:
        """A new life of the process: what is mounted and kept is still there."""
        process = fake_process(clock=self.clock, meter=self.meter, readiness=self.readiness)
        publisher = VolumePublisher(self.mounts, self.credentials, self.records, process)
        publisher.restore()
        return publisher

    def token(self, volume: str = "csi-1") -> str | None:
        return self.credentials.known[volume].tokens.get("vault")


@pytest.fixture
def node() -> Node:
    return Node()


async def test_a_pod_gets_its_directory_and_credentials_are_notified(node: Node) -> None:
    await node.publisher().publish(a_volume())
    assert node.mounts.published == {target_of(): "csi-1"}
    publication = node.credentials.known["csi-1"]
    assert (publication.pod, publication.directory) == (
        a_volume().pod,
        node.mounts.prepared["csi-1"],
    )
    assert publication.attributes == a_volume().attributes
    assert publication.tokens == {"vault": "first"}
    assert node.records.kept == {"csi-1": VolumeRecord(a_volume())}


async def test_a_pod_sees_nothing_before_its_socket_listens(node: Node) -> None:
    node.credentials.door = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        publishing = tasks.create_task(node.publisher().publish(a_volume()))
        await node.credentials.asked.wait()
        assert node.mounts.published == {}
        assert not publishing.done()
        node.credentials.door.set()
    assert node.mounts.published == {target_of(): "csi-1"}


async def test_without_credentials_a_pod_waits_and_is_not_mounted(node: Node) -> None:
    publisher = node.publisher()
    node.credentials.away = True
    with pytest.raises(CredentialsUnavailableError):
        await publisher.publish(a_volume())
    assert node.mounts.published == {}
    node.credentials.away = False
    await publisher.publish(a_volume())
    assert node.mounts.published == {target_of(): "csi-1"}


async def test_a_republish_brings_a_fresh_token(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.publish(a_volume(token="second"))
    assert node.token() == "second"


async def test_what_a_republish_changes_outlives_the_process(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    changed = replace(a_volume(), attributes={"nemutator.io/secret.db": "secret/other"})
    await publisher.publish(changed)
    assert [record.volume for record in node.records.all()] == [changed]


@pytest.mark.parametrize("trouble", ["away", "refused", "disk"])
async def test_a_republish_over_a_mount_never_fails(node: Node, trouble: str) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    node.credentials.away = trouble == "away"
    node.credentials.refuses = {"csi-1"} if trouble == "refused" else set()
    node.mounts.broken = OSError(28, "full") if trouble == "disk" else None
    await publisher.publish(a_volume(token="second"))
    assert node.mounts.published == {target_of(): "csi-1"}
    node.credentials.away, node.credentials.refuses, node.mounts.broken = False, set(), None
    await publisher.catch_up()
    assert node.token() == "second"


async def test_a_volume_is_one_pods_alone(node: Node) -> None:
    publisher = node.publisher()
    node.credentials.away = True
    with pytest.raises(CredentialsUnavailableError):
        await publisher.publish(a_volume())
    node.credentials.away = False
    with pytest.raises(InvalidVolumeError):
        await publisher.publish(a_volume(uid=OTHER))
    await publisher.publish(a_volume())
    with pytest.raises(InvalidVolumeError):
        await publisher.publish(a_volume(uid=OTHER, token="theirs"))
    assert (node.credentials.known["csi-1"].pod, node.token()) == (a_volume().pod, "first")


@pytest.mark.parametrize(
    ("volume_id", "target"), [("csi-1", target_of(OTHER)), ("csi-2", target_of())]
)
async def test_the_end_of_one_volume_is_not_another_ones(
    node: Node, volume_id: str, target: str
) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    with pytest.raises(InvalidVolumeError, match="csi-1 is at"):
        await publisher.unpublish(volume_id, target)
    with pytest.raises(InvalidVolumeError, match="csi-1 is at"):
        await publisher.publish(replace(a_volume(volume_id), target=target))
    assert node.mounts.published == {target_of(): "csi-1"}
    assert list(node.credentials.known) == ["csi-1"]


async def test_what_something_else_is_mounted_on_stays_as_it_is(node: Node) -> None:
    publisher = node.publisher()
    node.mounts.published = {target_of(): "of another driver"}
    with pytest.raises(OSError, match="something else"):
        await publisher.publish(a_volume())
    with pytest.raises(OSError, match="something else"):
        await publisher.unpublish("csi-1", target_of())
    assert node.mounts.published == {target_of(): "of another driver"}


async def test_there_is_an_end_to_volumes(node: Node) -> None:
    publisher = node.publisher()
    for number in range(MOST_VOLUMES):
        uid = f"{number:08x}-0000-4111-8222-333344445555"
        await publisher.publish(a_volume(f"csi-{number}", uid=uid))
    with pytest.raises(TooManyVolumesError):
        await publisher.publish(a_volume("one-more", uid=OTHER))


async def test_an_end_takes_everything_away(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.unpublish("csi-1", target_of())
    assert (node.mounts.published, node.mounts.prepared) == ({}, {})
    assert (node.credentials.known, node.records.kept) == ({}, {})


async def test_an_end_that_came_already_is_one_again(node: Node) -> None:
    publisher = node.publisher()
    await publisher.unpublish("csi-1", target_of())
    await publisher.unpublish("csi-1", target_of())
    assert node.credentials.calls == ["unpublish csi-1"] * 2


async def test_an_end_does_not_wait_for_credentials_which_are_notified_later(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    node.credentials.away = True
    await publisher.unpublish("csi-1", target_of())
    assert node.mounts.published == {}
    assert node.records.kept["csi-1"].ended
    node.credentials.away = False
    await node.publisher().catch_up()  # even by another life of the process
    assert (node.credentials.known, node.records.kept) == ({}, {})


async def test_new_credentials_are_notified_of_all_volumes(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.publish(a_volume("csi-2", uid=OTHER))
    await publisher.catch_up()
    node.credentials.restart()
    await publisher.catch_up()
    assert sorted(node.credentials.known) == ["csi-1", "csi-2"]
    calls = len(node.credentials.calls)
    await publisher.catch_up()
    assert len(node.credentials.calls) == calls


async def test_after_a_restart_volumes_are_known_and_tokens_come_with_the_republish(
    node: Node,
) -> None:
    await node.publisher().publish(a_volume())
    node.credentials.restart()
    publisher = node.publisher()
    await publisher.catch_up()
    assert node.token() is None
    await publisher.publish(a_volume(token="second"))
    assert node.token() == "second"


async def test_what_a_reboot_has_unmounted_is_cleared(node: Node) -> None:
    await node.publisher().publish(a_volume())
    node.mounts.published.clear()
    await node.publisher().catch_up()
    assert (node.mounts.prepared, node.records.kept) == ({}, {})


async def test_what_cannot_be_cleared_does_not_stop_the_start(node: Node) -> None:
    await node.publisher().publish(a_volume())
    node.mounts.published.clear()
    node.mounts.broken = OSError(16, "busy")
    node.publisher()
    assert "csi-1" in node.records.kept


async def test_one_refused_volume_does_not_hold_up_the_others(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.publish(a_volume("csi-2", uid=OTHER))
    node.credentials.restart()
    node.credentials.refuses = {"csi-1"}
    await publisher.catch_up()
    assert sorted(node.credentials.known) == ["csi-2"]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (OSError(28, "No space left on device"), "machine"),
        (CredentialsRefusedError("HTTP status 503"), "credentials"),
        (CredentialsUnavailableError("no answer within 10 s"), "credentials"),
    ],
)
async def test_a_volume_that_its_pod_has_filled_waits_alone_and_ever_longer(
    node: Node, failure: Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.publish(a_volume("csi-2", uid=OTHER))
    node.credentials.restart()
    if isinstance(failure, OSError):
        node.mounts.filled["csi-1"] = failure
    else:
        node.credentials.failing["csi-1"] = failure
    await publisher.catch_up()
    assert sorted(node.credentials.known) == ["csi-2"]
    assert node.meter.value(names.VOLUME_FAILURES, reason=reason) == 1
    (line,) = (each for each in caplog.records if each.message == "volume_waits")
    assert isinstance(line.args, dict)
    assert (line.args[names.VOLUME], line.args[names.OBJECT]) == ("csi-1", "shop/web-1")
    await publisher.catch_up()
    assert node.meter.value(names.VOLUME_FAILURES, reason=reason) == 1
    for _ in range(20):
        await node.clock.advance(AGAIN.longest_s)
        await publisher.catch_up()
    assert node.meter.value(names.VOLUME_FAILURES, reason=reason) == 21
    node.mounts.filled.clear()
    node.credentials.failing.clear()
    await node.clock.advance(AGAIN.longest_s)
    await publisher.catch_up()
    assert sorted(node.credentials.known) == ["csi-1", "csi-2"]


async def test_where_no_volume_is_served_the_process_is_not_ready(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    node.credentials.restart()
    node.credentials.refuses = {"csi-1"}
    with pytest.raises(CredentialsRefusedError):
        await publisher.catch_up()


async def test_a_target_that_cannot_be_looked_at_does_not_stop_the_start(node: Node) -> None:
    publisher = node.publisher()
    await publisher.publish(a_volume())
    await publisher.publish(a_volume("csi-2", uid=OTHER))
    node.credentials.restart()
    node.mounts.hidden = {target_of()}
    await node.publisher().catch_up()
    assert sorted(node.credentials.known) == ["csi-1", "csi-2"]


async def test_publication_and_end_of_one_volume_take_turns(node: Node) -> None:
    publisher = node.publisher()
    node.credentials.door = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(publisher.publish(a_volume()))
        await node.credentials.asked.wait()
        ending = tasks.create_task(publisher.unpublish("csi-1", target_of()))
        await asyncio.sleep(0)
        assert not ending.done()
        node.credentials.door.set()
    assert node.credentials.calls == ["publish csi-1", "unpublish csi-1"]
    assert node.mounts.published == {}


async def test_it_keeps_looking_until_credentials_are_there(node: Node) -> None:
    await node.publisher().publish(a_volume())
    publisher = node.publisher()
    node.credentials.restart()
    node.credentials.away = True
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(publisher.run())
        await node.clock.until_sleeping()
        await node.clock.advance(POLL_S)
        assert node.credentials.known == {}
        assert PART in node.readiness.problems()
        assert node.meter.value(names.VOLUMES_WAITING) == 1
        node.credentials.away = False
        await node.clock.advance(POLL_S)
        assert sorted(node.credentials.known) == ["csi-1"]
        await node.clock.until_sleeping()
        assert node.readiness.problems() == {}
        assert node.meter.value(names.VOLUMES) == 1
        assert node.meter.value(names.VOLUMES_WAITING) == 0
        running.cancel()
