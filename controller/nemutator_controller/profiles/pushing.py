"""Sends each finished profile on to another store of profiles, and waits for nobody.

Few wait, because each is in the database anyway; what does not fit, or is not taken, is counted.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.ports import ProfileStore, PushDestination
from nemutator_controller.profiles.records import (
    ProfileRecord,
    PushRefusedError,
    PushUnavailableError,
)

log = logging.getLogger(__name__)

MOST_WAITING = 100
TRIES = 8
"""Over about three minutes: longer, and profiles that are made meanwhile would not fit."""

PUSH_S = 30.0
_BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(eq=False, slots=True)
class ProfilePushing:
    """`run()` is a task for a Supervisor; `note` is a listener of the queue of profiles."""

    destination: PushDestination
    store: ProfileStore
    process: Process
    _waiting: asyncio.Queue[ProfileRecord] = field(
        default_factory=lambda: asyncio.Queue(MOST_WAITING), init=False
    )

    def note(self, profile: ProfileRecord) -> None:
        if profile.state != "done":
            return
        try:
            self._waiting.put_nowait(profile)
        except asyncio.QueueFull:
            self._drop(profile, "queue_full", f"{MOST_WAITING} others wait")

    async def run(self) -> None:
        while True:
            profile = await self._waiting.get()
            try:
                await self._push(profile)
            except asyncio.CancelledError:
                self._drop(profile, "stopped", "the brain stops")
                while not self._waiting.empty():
                    self._drop(self._waiting.get_nowait(), "stopped", "the brain stops")
                raise

    async def _push(self, profile: ProfileRecord) -> None:
        failures, why = 0, ""
        while failures < TRIES:
            if failures:
                roll = self.process.dice.random()
                await self.process.clock.sleep(_BACKOFF.delay_s(failures, roll=roll))
            try:
                async with asyncio.timeout(PUSH_S):
                    pprof = await self.store.pprof(profile.id)
                    if pprof is None:
                        return self._drop(profile, "gone", "it was removed for newer ones")
                    await self.destination.push(profile, pprof)
                return self._count("pushed")
            except PushRefusedError as error:
                return self._drop(profile, "refused", str(error))
            except (PushUnavailableError, StoreUnavailableError, TimeoutError) as error:
                why = str(error) or f"no answer within {PUSH_S:g} s"
                failures += 1
        return self._drop(profile, "unreachable", why)

    def _drop(self, profile: ProfileRecord, result: str, why: str) -> None:
        self._count(result)
        fields = {names.PROFILE_ID: profile.id, names.TASK: f"profiles to {self.destination.name}"}
        log.warning("profile_not_pushed", fields | {names.REASON: result, names.ERROR: why})

    def _count(self, result: str) -> None:
        self.process.meter.count(
            names.PROFILES_PUSHED, destination=self.destination.name, result=result
        )
