"""Opens the console: makes links, turns each into one session, keeps sessions over a restart."""

import logging
from collections.abc import Callable

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.secret import Secret

from nemutator_controller.console.ports import SessionStore
from nemutator_controller.console.sessions import Sessions
from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)


class Doorkeeper:
    """*fresh* makes a secret that nobody can guess."""

    def __init__(
        self,
        sessions: Sessions,
        store: SessionStore,
        *,
        fresh: Callable[[], Secret],
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._fresh = fresh
        self._clock = clock

    async def restore(self) -> None:
        now = self._clock.now()
        self._sessions.restore(await self._store.load(now=now), now=now)

    def offer(self) -> Secret:
        """A key that opens the console once, soon."""
        key = self._fresh()
        self._sessions.offer(key, now=self._clock.now())
        return key

    async def redeem(self, key: str) -> Secret | None:
        """What the browser shows from now on, for a *key* that was not used before."""
        token, now = self._fresh(), self._clock.now()
        session = self._sessions.redeem(key, token, now=now)
        if session is None:
            return None
        try:
            await self._store.save(session, now=now)
        except StoreUnavailableError as failure:
            # It is valid all the same, until the brain restarts.
            log.warning("session_not_kept", {names.REASON: failure.reason})
        return token

    def admits(self, token: str | None) -> bool:
        return token is not None and self._sessions.admits(token, now=self._clock.now())
