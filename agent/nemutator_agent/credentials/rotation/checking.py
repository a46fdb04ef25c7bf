"""Reads again what pods have read, once for each path of the node, and passes on what has changed."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol
from weakref import WeakSet

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_agent.credentials.rotation.schedule import CheckSchedule, FollowedPath
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultError
from nemutator_agent.credentials.vault.sessions import VaultSession

log = logging.getLogger(__name__)

AT_ONCE = 4
"""Pods that read a changed path at the same time: others of the node need Vault, too."""


class ReadsAgain(Protocol):
    async def read_again(self, session: VaultSession, path: str) -> Document:
        """What Vault has now, whatever is kept of it; raises a VaultError."""
        ...


class Follower(Protocol):
    """What one pod has read."""

    @property
    def session(self) -> VaultSession: ...

    def differs(self, path: str, document: Document) -> bool:
        """Whether *document* is not what the pod has."""
        ...

    def take(self, path: str, document: Document) -> None:
        """The pod itself has read *document*."""
        ...


@dataclass(eq=False, slots=True)
class RotationChecks:
    """One reader of a path sees for all whether it has changed; then each reads it with its own token,
    because only that shows what it may have."""

    vault: ReadsAgain
    schedule: CheckSchedule
    process: Process
    _: KW_ONLY
    _followers: dict[FollowedPath, WeakSet[Follower]] = field(default_factory=dict, init=False)
    _added: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def follow(self, path: str, follower: Follower) -> None:
        """*follower* has just read *path*; it is followed for as long as its session is open."""
        followed = FollowedPath(path, follower.session.account.vault_namespace)
        known = self._followers.get(followed)
        if known is None:
            known = self._followers[followed] = WeakSet()
            self.schedule.add(followed, self._now(), roll=self.process.dice.random())
            self._count()
            self._added.set()
        known.add(follower)

    async def run(self) -> None:
        while True:
            await self._turn(await self._next())

    async def _turn(self, followed: FollowedPath) -> None:
        # Not in `run`, which would keep those that nobody else knows any more until the next turn.
        self.schedule.begun(followed, self._now(), roll=self.process.dice.random())
        readers = [one for one in self._followers[followed] if not one.session.closed]
        if readers:
            await self._check(followed.path, readers)
        else:
            del self._followers[followed]
            self.schedule.remove(followed)
            self._count()

    async def _next(self) -> FollowedPath:
        while (check := self.schedule.next()) is None or check.at > self._now():
            if check is None:
                self._added.clear()
                await self._added.wait()
            else:
                # Not all of it at once: what is added meanwhile may be due before.
                await self.process.clock.sleep(
                    min(check.at - self._now(), self.schedule.interval_s / 4)
                )
        return check.path

    async def _check(self, path: str, readers: list[Follower]) -> None:
        sessions = list(dict.fromkeys(one.session for one in readers))
        # Another one each time, in case one may not read it any more.
        first = sessions[int(self.process.dice.random() * len(sessions))]
        document = await self._read(path, first)
        if document is None:
            return
        behind = [one for one in readers if one.differs(path, document)]
        self._checked("changed" if behind else "same")
        for one in behind:
            if one.session is first:
                one.take(path, document)
        turns = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as tasks:
            for session in sessions:
                late = [one for one in behind if one.session is session]
                if late and session is not first:
                    tasks.create_task(
                        self._catch_up(path, session, late, turns), name="read what has changed"
                    )

    async def _catch_up(
        self, path: str, session: VaultSession, late: Iterable[Follower], turns: asyncio.Semaphore
    ) -> None:
        async with turns:
            document = await self._read(path, session)
        if document is not None:
            for one in late:
                one.take(path, document)

    async def _read(self, path: str, session: VaultSession) -> Document | None:
        try:
            return await self.vault.read_again(session, path)
        except VaultError as error:
            # What the pod has stays as it is. Its next own question is answered with the reason.
            self._checked(error.kind)
            log.debug(
                "check_failed", {names.POD_UID: session.account.pod.uid, names.ERROR: error.kind}
            )
            return None

    def _checked(self, result: str) -> None:
        self.process.meter.count(names.ROTATION_CHECKS, result=result)

    def _count(self) -> None:
        self.process.meter.gauge(names.FOLLOWED_PATHS, len(self._followers))

    def _now(self) -> float:
        return self.process.clock.monotonic()
