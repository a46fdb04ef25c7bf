"""Stand-ins for the machine's mounts, kept records and the credentials process."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.records import VolumeRecord
from nemutator_agent.mount.volumes import Volume
from nemutator_agent.publications import Publication, PublishedPod, VolumeDirectory
from nemutator_common.secret import Secret

UID = "0a1b2c3d-0000-4111-8222-333344445555"
ROOT = "/var/lib/kubelet"


def target_of(uid: str = UID) -> str:
    return f"{ROOT}/pods/{uid}/volumes/kubernetes.io~csi/nemutator/mount"


def a_volume(name: str = "csi-1", *, uid: str = UID, token: str | None = "first") -> Volume:
    return Volume(
        id=name,
        target=target_of(uid),
        pod=PublishedPod("shop", "web-1", uid, "web"),
        attributes={"secret.db": "secret/app/db#password"},
        tokens={} if token is None else {"vault": Secret(token)},
    )


@dataclass
class FakeMounts:
    """Does what is asked in memory; `broken` makes it fail."""

    prepared: dict[str, VolumeDirectory] = field(default_factory=dict)
    made: int = 0
    """How many directories were made; each is another one."""
    published: dict[str, str] = field(default_factory=dict)
    """Target to volume."""
    broken: OSError | None = None
    filled: dict[str, OSError] = field(default_factory=dict)
    """Volumes in whose directory nothing can be made."""
    hidden: set[str] = field(default_factory=set)
    """Targets that cannot be looked at."""

    def is_published(self, volume_id: str, target: str) -> bool:
        if target in self.hidden:
            raise OSError(5, "Input/output error", target)
        return self.published.get(target) == volume_id

    def prepare(self, volume_id: str, target: str, *, group: int | None = None) -> VolumeDirectory:
        self._do()
        if volume_id in self.filled:
            raise self.filled[volume_id]
        if volume_id not in self.prepared:
            self.made += 1
            self.prepared[volume_id] = VolumeDirectory(f"/volumes/{volume_id}", 50, self.made)
        return self.prepared[volume_id]

    def publish(self, volume_id: str, target: str) -> None:
        self._do()
        assert volume_id in self.prepared
        self._refuse_anothers(volume_id, target)
        self.published[target] = volume_id

    def unpublish(self, volume_id: str, target: str) -> None:
        self._do()
        self._refuse_anothers(volume_id, target)
        self.published.pop(target, None)

    def discard(self, volume_id: str) -> None:
        self._do()
        self.prepared.pop(volume_id, None)

    def _refuse_anothers(self, volume_id: str, target: str) -> None:
        if self.published.get(target, volume_id) != volume_id:
            raise OSError(16, "something else than this volume is mounted there", target)

    def _do(self) -> None:
        if self.broken is not None:
            raise self.broken


@dataclass
class FakeRecords:
    kept: dict[str, VolumeRecord] = field(default_factory=dict)

    def all(self) -> Iterable[VolumeRecord]:
        return list(self.kept.values())

    def write(self, record: VolumeRecord) -> None:
        self.kept[record.volume.id] = replace(record, volume=replace(record.volume, tokens={}))

    def remove(self, volume_id: str) -> None:
        self.kept.pop(volume_id, None)


@dataclass
class FakeCredentials:
    """One that forgets everything when it is restarted."""

    life: int = 1
    away: bool = False
    refuses: set[str] = field(default_factory=set)
    failing: dict[str, Exception] = field(default_factory=dict)
    """What a publication of these volumes ends with."""
    known: dict[str, Publication] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    door: asyncio.Event | None = None
    """When there is one, publications wait for it."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first publication."""

    def restart(self) -> None:
        self.life += 1
        self.known.clear()

    async def instance(self) -> str:
        self._answer("")
        return f"life {self.life}"

    async def publish(self, volume_id: str, publication: Publication) -> None:
        self.calls.append(f"publish {volume_id}")
        self.asked.set()
        if self.door is not None:
            await self.door.wait()
        self._answer(volume_id)
        self.known[volume_id] = publication

    async def unpublish(self, volume_id: str) -> None:
        self.calls.append(f"unpublish {volume_id}")
        self._answer(volume_id)
        self.known.pop(volume_id, None)

    def _answer(self, volume_id: str) -> None:
        if self.away:
            raise CredentialsUnavailableError("nobody there")
        if volume_id in self.failing:
            raise self.failing[volume_id]
        if volume_id in self.refuses:
            raise CredentialsRefusedError("HTTP status 400")
