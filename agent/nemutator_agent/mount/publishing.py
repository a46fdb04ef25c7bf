"""Publishes volumes to pods, and brings all of them to the credentials process.

A pod sees its directory only when its socket listens. What is mounted stays mounted, whatever fails:
kubelet would show the failure of a republication on a pod that runs well.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.declarations import file_group_of
from nemutator_common.process import Process

from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.ports import Credentials, PodMounts, VolumeRecords
from nemutator_agent.mount.records import VolumeRecord
from nemutator_agent.mount.volumes import InvalidVolumeError, Volume
from nemutator_agent.mount.waiting_volumes import WaitingVolumes
from nemutator_agent.publications import Publication

log = logging.getLogger(__name__)

MOST_VOLUMES = 2048
"""Kubelet runs 110 pods by default; this is more than the largest nodes have."""

PART = "credentials"
"""The part of the process that is not ready while the credentials process cannot be notified."""

POLL_S = 2.0
"""Seconds between two checks whether the credentials process is still the same one."""


class TooManyVolumesError(Exception):
    """There are `MOST_VOLUMES` already."""


@dataclass(eq=False, slots=True)
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0


@dataclass(eq=False, slots=True)
class VolumePublisher:
    """All volumes of this node. `run()` keeps the credentials process notified."""

    mounts: PodMounts
    credentials: Credentials
    records: VolumeRecords
    process: Process
    _volumes: dict[str, Volume] = field(default_factory=dict, init=False)
    _waiting: WaitingVolumes = field(default_factory=WaitingVolumes, init=False)
    """Volumes whose last change or end the credentials process has not confirmed yet."""
    _ended: dict[str, Volume] = field(default_factory=dict, init=False)
    """Volumes that have ended or were never shown, of which something may be left here or there."""
    _instance: str | None = field(default=None, init=False)
    _turns: dict[str, _Turn] = field(default_factory=dict, init=False)

    def restore(self) -> None:
        """Take up what was published before this process began. Kubelet brings the tokens again."""
        for record in self.records.all():
            volume = record.volume
            if not record.ended and self._is_shown(volume):
                self._volumes[volume.id] = volume
                self._waiting.add(volume.id)
            else:
                # Where it had not ended, the machine was restarted, or this process was killed before it
                # had shown the volume: kubelet publishes again what it still needs.
                self._ended[volume.id] = volume
                self._waiting.add(volume.id)
        log.info("volumes_restored", {names.COUNT: len(self._volumes)})

    def _is_shown(self, volume: Volume) -> bool:
        try:
            return self.mounts.is_published(volume.id, volume.target)
        except OSError as error:
            log.warning("volume_not_seen", _line(volume) | {names.ERROR: str(error)})
            return True  # when unsure, a pod that runs keeps what it has

    async def publish(self, volume: Volume) -> None:
        """Show *volume* to its pod, or refresh what is known of one that is shown already.

        For one that is not shown yet, raises CredentialsUnavailableError, InvalidVolumeError,
        TooManyVolumesError or OSError.
        """
        self._refuse_anothers(volume.id, volume.target)
        async with self._turn(volume.id):
            if self.mounts.is_published(volume.id, volume.target):
                await self._refresh(volume)
                return
            known = self._volumes.get(volume.id)
            if known is None and len(self._volumes) >= MOST_VOLUMES:
                raise TooManyVolumesError(f"there are {MOST_VOLUMES} volumes on this node")
            self.records.write(VolumeRecord(volume))
            self._volumes[volume.id] = volume
            self._ended.pop(volume.id, None)
            self._waiting.add(volume.id)
            await self._notify(volume)
            self.mounts.publish(volume.id, volume.target)
            log.info("volume_published", _line(volume))

    def _refuse_anothers(self, volume_id: str, target: str) -> None:
        """Kubelet has one volume at one target. What it did not ask for could cover or end another pod's."""
        for known in (*self._volumes.values(), *self._ended.values()):
            if (known.id == volume_id) != (known.target == target):
                raise InvalidVolumeError(
                    f"volume {known.id} is at {known.target}, and there is one volume at one target"
                )

    async def unpublish(self, volume_id: str, target: str) -> None:
        """Take the volume from its pod. Raises OSError or InvalidVolumeError, and nothing where the
        credentials process fails."""
        self._refuse_anothers(volume_id, target)
        async with self._turn(volume_id):
            volume = self._volumes.pop(volume_id, None)
            if volume is not None:
                self.records.write(VolumeRecord(volume, ended=True))
                self._ended[volume_id] = volume
                self._waiting.add(volume_id)
            confirmed = await self._notify_end(volume_id)
            self.mounts.unpublish(volume_id, target)
            self.mounts.discard(volume_id)
            if confirmed:
                self._forget(volume_id)
            log.info("volume_unpublished", {names.VOLUME: volume_id})

    async def run(self) -> None:
        """Notify the credentials process of what it has not confirmed, until cancelled."""
        readiness, meter = self.process.readiness, self.process.meter
        while True:
            try:
                await self.catch_up()
                readiness.pass_(PART)
            except (CredentialsUnavailableError, OSError) as error:
                if PART not in readiness.problems():
                    log.warning("credentials_not_notified", {names.ERROR: str(error)})
                readiness.fail(PART, str(error))
            meter.gauge(names.VOLUMES, len(self._volumes))
            meter.gauge(names.VOLUMES_WAITING, len(self._waiting))
            await self.process.clock.sleep(POLL_S)

    async def catch_up(self) -> None:
        """Notify it of everything when it is a new one, else of what is due. A volume that fails waits
        alone; raises when the credentials process is away, and when it serves no volume at all."""
        instance = await self.credentials.instance()
        if instance != self._instance:
            log.info("credentials_are_new", {names.COUNT: len(self._volumes)})
            for volume_id in self._volumes:
                self._waiting.add(volume_id)
            self._instance = instance
        failure: Exception | None = None
        for volume_id in self._waiting.due(self.process.clock.monotonic()):
            try:
                await self._catch_up_with(volume_id)
            except (CredentialsRefusedError, OSError) as error:
                failure = self._failed(volume_id, error)
            except CredentialsUnavailableError as error:
                await self.credentials.instance()  # raises where it is not this volume alone
                failure = self._failed(volume_id, error)
        if failure is not None and self._volumes.keys() <= set(self._waiting.failing()):
            raise failure

    def _failed(self, volume_id: str, error: Exception) -> Exception:
        process = self.process
        volume = self._volumes.get(volume_id) or self._ended.get(volume_id)
        if volume is None:
            return error  # kubelet has ended it meanwhile
        self._waiting.fail(volume_id, process.clock.monotonic(), roll=process.dice.random())
        reason = "machine" if isinstance(error, OSError) else "credentials"
        process.meter.count(names.VOLUME_FAILURES, reason=reason)
        log.warning("volume_waits", _line(volume) | {names.ERROR: str(error)})
        return error

    async def _catch_up_with(self, volume_id: str) -> None:
        async with self._turn(volume_id):
            # A call of kubelet's may have done it meanwhile.
            if volume_id in self._volumes and volume_id in self._waiting:
                await self._notify(self._volumes[volume_id])
            elif (volume := self._ended.get(volume_id)) is not None:
                await self.credentials.unpublish(volume_id)
                self.mounts.unpublish(volume_id, volume.target)
                self.mounts.discard(volume_id)
                self._forget(volume_id)

    async def _refresh(self, volume: Volume) -> None:
        known = self._volumes.get(volume.id)
        try:
            if known != volume:
                self.records.write(VolumeRecord(volume))
            self._volumes[volume.id] = volume
            self._waiting.add(volume.id)
            await self._notify(volume)
        except (CredentialsUnavailableError, OSError) as error:
            # `run` tries again, with the tokens that came just now.
            log.warning("volume_not_refreshed", _line(volume) | {names.ERROR: str(error)})

    async def _notify(self, volume: Volume) -> None:
        publication = Publication(
            pod=volume.pod,
            directory=self.mounts.prepare(
                volume.id, volume.target, group=file_group_of(volume.attributes)
            ),
            attributes=volume.attributes,
            tokens={audience: token.reveal() for audience, token in volume.tokens.items()},
        )
        await self.credentials.publish(volume.id, publication)
        self._waiting.confirm(volume.id)

    async def _notify_end(self, volume_id: str) -> bool:
        """Whether the credentials process has confirmed it."""
        try:
            await self.credentials.unpublish(volume_id)
        except CredentialsUnavailableError as error:
            log.warning("end_not_notified", {names.VOLUME: volume_id, names.ERROR: str(error)})
            return False
        return True

    def _forget(self, volume_id: str) -> None:
        self.records.remove(volume_id)
        self._ended.pop(volume_id, None)
        self._waiting.confirm(volume_id)

    @asynccontextmanager
    async def _turn(self, volume_id: str) -> AsyncIterator[None]:
        """Run one call at a time for each volume: kubelet repeats a call while the first one still runs."""
        turn = self._turns.setdefault(volume_id, _Turn())
        turn.wanted += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[volume_id]


def _line(volume: Volume) -> dict[names.Key, str]:
    return {
        names.VOLUME: volume.id,
        names.OBJECT: f"{volume.pod.namespace}/{volume.pod.name}",
    }
