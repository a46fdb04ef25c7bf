"""Where profiles are requested, and from where agents take them.

Open profiles are in memory, bounded per node and in all; each change is stored before anybody is
notified. A request that an agent took and did not begin is offered again, because the response may
have been lost on the way; an agent ignores an id that it has already. One that was begun and is late
is offered once more, too: an agent that was restarted meanwhile does not know it, and makes it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles.grade import Grade
from nemutator_common.wire import ProfileOutcome, ProfileRequest

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.ports import ProfileStore
from nemutator_controller.profiles.records import (
    NOT_TAKEN_S,
    EndReason,
    ProfileRecord,
    after,
    deserted,
    ended,
    is_later,
    overdue,
    taken,
)

log = logging.getLogger(__name__)

MOST_PER_NODE = 8
MOST_OPEN = 1_000
LONGEST_WAIT_S = 25.0
"""Less than a listener gives a whole request."""

OFFER_AGAIN_S = 30.0
LATE_S = 15.0
"""After the time of sampling. It is offered only once, because it may be what ended the agent."""

EVERY_S = 5.0

Listener = Callable[[ProfileRecord], None]
"""Called with every change of the state, at once; it may not wait."""


class TooManyProfilesError(Exception):
    """The node, or the brain, has as many open profiles as it may have."""


class UnknownProfileError(Exception):
    """Nobody asked for it, or it was removed since."""


class ForeignProfileError(Exception):
    """Another node was asked for it."""


@dataclass(slots=True)
class ProfileQueue:
    """*most* finished profiles with *most_bytes* in all are kept."""

    store: ProfileStore
    process: Process
    most: int
    most_bytes: int
    shared: bool = False
    """Other brains use the same store: agents may take from any what people asked of another one."""
    _open: dict[str, ProfileRecord] = field(default_factory=dict, init=False)
    _offered: dict[str, float] = field(default_factory=dict, init=False)
    _offered_late: set[str] = field(default_factory=set, init=False)
    _asked: dict[str, float] = field(default_factory=dict, init=False)
    """When the agent of an open profile has last asked for work."""
    _untold: set[str] = field(default_factory=set, init=False)
    """Taken here, which the store and so other brains do not know yet."""
    _listeners: list[Listener] = field(default_factory=list, init=False)
    _waits: dict[str, set["asyncio.Future[None]"]] = field(default_factory=dict, init=False)
    """Agents that wait for work, by node: 5 000 of them must not look for it at each change of one."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _closed: bool = field(default=False, init=False)

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def restore(self) -> None:
        """Go on with what was not finished when the brain stopped."""
        self._open = {profile.id: profile for profile in await self.store.unfinished()}
        now = self.process.clock.monotonic()
        self._offered = {one.id: now for one in self._open.values() if one.state == "running"}
        self._asked = dict.fromkeys(self._open, now)

    async def ask(self, profile: ProfileRecord) -> None:
        """Let the agent of its node take *profile*; raises TooManyProfilesError."""
        of_node = sum(other.node == profile.node for other in self._open.values())
        if of_node >= MOST_PER_NODE or len(self._open) >= MOST_OPEN:
            self.process.meter.count(names.PROFILES_ASKED, by=profile.asked_by, result="refused")
            raise TooManyProfilesError
        # In memory first: two at once must not both find the last place free.
        self._open[profile.id] = profile
        try:
            await self.store.save(profile)
        except BaseException:
            del self._open[profile.id]
            raise
        self.process.meter.count(names.PROFILES_ASKED, by=profile.asked_by, result="asked")
        self._notify(profile)

    async def refuse(self, profile: ProfileRecord, why: EndReason) -> ProfileRecord:
        """Record that *profile* was asked for and cannot be made."""
        refused = ended(profile, "refused", why, now=self.process.clock.now())
        await self.store.save(refused)
        self.process.meter.count(names.PROFILES_ASKED, by=profile.asked_by, result="refused")
        self._notify(refused)
        return refused

    async def find(self, identity: str) -> ProfileRecord | None:
        return self._open.get(identity) or await self.store.find(identity)

    async def take(self, node: str, wait_s: float) -> tuple[ProfileRequest, ...]:
        """The profiles that *node* has to make, as soon as there are any; none after *wait_s*."""
        self._note_asking(node)
        try:
            async with asyncio.timeout(min(wait_s, LONGEST_WAIT_S)):
                while not (waiting := self._waiting(node)) and not self._closed:
                    await self._change_of(node)
        except TimeoutError:
            # It was there all the time: one that went away has cancelled this.
            self._note_asking(node)
            return ()
        self._note_asking(node)
        now = self.process.clock.now()
        for profile in waiting:
            self._open[profile.id] = taken(profile, now=now)
            if self.shared and profile.taken_at is None:
                self._untold.add(profile.id)
            self._offered[profile.id] = self.process.clock.monotonic()
            if profile.state == "running":
                self._offered_late.add(profile.id)
        return tuple(profile.request for profile in waiting)

    async def report(self, outcome: ProfileOutcome, grade: Grade | None = None) -> ProfileRecord:
        """Take *outcome* in, with the *grade* in its profile, and return the profile as it is then; the same one again changes nothing."""
        # One after the other: what is stored late must not be older than what it replaces.
        async with self._turn:
            profile = await self.of(outcome)
            changed = after(profile, outcome, grade, now=self.process.clock.now())
            if changed is None:
                return profile
            await self._change(changed, outcome.pprof or None)
            return changed

    async def of(self, outcome: ProfileOutcome) -> ProfileRecord:
        """The profile that *outcome* is of."""
        profile = await self.find(outcome.id)
        if profile is None:
            raise UnknownProfileError
        if profile.node != outcome.node:
            raise ForeignProfileError
        return profile

    async def run(self) -> None:
        """Take up profiles that were stored too late to be known, give up those that nobody makes, and
        remove those that are too many; at the end release all pollers."""
        try:
            while True:
                await self.tidy()
                await self.process.clock.sleep(EVERY_S)
        finally:
            self._closed = True
            self._wake(list(self._waits))

    async def tidy(self) -> None:
        now = self.process.clock.now()
        try:
            async with self._turn:
                await self._tell()
                await self._take_up()
                for profile in list(self._open.values()):
                    why = overdue(profile, now=now) or self._deserted(profile)
                    if why is not None:
                        await self._change(ended(profile, "lost", why, now=now), None)
            by_count, by_bytes = await self.store.prune(most=self.most, most_bytes=self.most_bytes)
        except StoreUnavailableError as failure:
            log.warning("profiles_not_tidied", {names.REASON: failure.reason})
            return
        self.process.meter.count(names.PROFILES_DROPPED, by_count, reason="count")
        self.process.meter.count(names.PROFILES_DROPPED, by_bytes, reason="bytes")
        self._wake({profile.node for profile in self._open.values() if self._due(profile)})

    async def _take_up(self) -> None:
        """A write that was given up at its deadline may still have been made: who asked again finds
        the profile stored, and relies on its being made."""
        unfinished = {profile.id: profile for profile in await self.store.unfinished()}
        if self.shared:
            await self._catch_up(unfinished)
        for profile in unfinished.values():
            if profile.id not in self._open and len(self._open) < MOST_OPEN:
                self._open[profile.id] = profile
                self._notify(profile)

    async def _tell(self) -> None:
        """Say what was taken here, so that no other brain gives it up."""
        for identity in list(self._untold):
            profile = self._open.get(identity)
            if profile is not None and profile.state == "asked":
                await self.store.save(profile)
            self._untold.discard(identity)

    async def _catch_up(self, unfinished: Mapping[str, ProfileRecord]) -> None:
        """What agents have said to another brain. That one has notified whom it concerns."""
        for mine in list(self._open.values()):
            there = unfinished.get(mine.id) or await self.store.find(mine.id)
            if there is None or not is_later(there, mine):
                continue
            if there.is_open:
                self._open[mine.id] = there
                self._offered[mine.id] = self.process.clock.monotonic()
            else:
                self._forget(mine.id)

    def _note_asking(self, node: str) -> None:
        now = self.process.clock.monotonic()
        self._asked |= {one.id: now for one in self._open.values() if one.node == node}

    def _deserted(self, profile: ProfileRecord) -> EndReason | None:
        # With several brains the agent may ask another one.
        asked = None if self.shared else self._asked.get(profile.id)
        silent = asked is not None and self.process.clock.monotonic() > asked + NOT_TAKEN_S
        return deserted(profile) if silent and profile.state == "running" else None

    def _waiting(self, node: str) -> list[ProfileRecord]:
        return [
            profile
            for profile in self._open.values()
            if profile.node == node and self._due(profile)
        ]

    def _due(self, profile: ProfileRecord) -> bool:
        offered, now = self._offered.get(profile.id), self.process.clock.monotonic()
        if offered is None:
            return True
        if profile.state == "asked":
            return now >= offered + OFFER_AGAIN_S
        late = now >= offered + profile.seconds + LATE_S
        return late and profile.id not in self._offered_late

    async def _change(self, profile: ProfileRecord, pprof: bytes | None) -> None:
        await self.store.save(profile, pprof)
        if profile.is_open:
            before = self._open.get(profile.id)
            self._open[profile.id] = profile
            if before is not None and before.state == profile.state:
                # It is in another phase, which nobody has to be notified of.
                return
            # It has just begun: before, it may have waited long behind others.
            self._offered[profile.id] = self.process.clock.monotonic()
        else:
            self._forget(profile.id)
            self.process.meter.count(names.PROFILES_ENDED, state=profile.state)
            fields = {names.PROFILE_ID: profile.id, names.NODE: profile.node}
            log.info("profile_ended", fields | {names.REASON: profile.reason or profile.state})
        self._notify(profile)

    def _forget(self, identity: str) -> None:
        self._open.pop(identity, None)
        self._offered.pop(identity, None)
        self._offered_late.discard(identity)
        self._asked.pop(identity, None)
        self._untold.discard(identity)

    def _notify(self, profile: ProfileRecord) -> None:
        for listener in self._listeners:
            listener(profile)
        self._wake([profile.node])

    async def _change_of(self, node: str) -> None:
        """Wait until there may be work for *node*."""
        changed = asyncio.get_running_loop().create_future()
        waits = self._waits.setdefault(node, set())
        waits.add(changed)
        try:
            await changed
        finally:
            waits.discard(changed)
            if not waits and self._waits.get(node) is waits:
                del self._waits[node]

    def _wake(self, nodes: Iterable[str]) -> None:
        for node in nodes:
            for changed in self._waits.pop(node, ()):
                if not changed.done():
                    changed.set_result(None)
