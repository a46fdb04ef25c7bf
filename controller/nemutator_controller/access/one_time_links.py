"""One-time links off clusters: each opens one browser's session, which outlives the brain."""

import logging
from collections.abc import Callable

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.access.ports import SessionStore
from nemutator_controller.access.sessions import Sessions
from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)

LINK_S = 600.0
MOST_LINKS = 16
MOST_SESSIONS = 32


class OneTimeLinks:
    """*fresh* makes a secret that nobody can guess."""

    def __init__(
        self,
        store: SessionStore,
        process: Process,
        *,
        session_s: float,
        fresh: Callable[[], Secret],
    ) -> None:
        self._store = store
        self._clock = process.clock
        self._fresh = fresh
        self._links: Sessions[None] = Sessions(lasting_s=LINK_S, most=MOST_LINKS)
        self._sessions: Sessions[None] = Sessions(lasting_s=session_s, most=MOST_SESSIONS)

    async def restore(self) -> None:
        now = self._clock.now()
        self._sessions.restore(await self._store.load(now=now), now=now)

    def offer(self) -> Secret:
        """A key that opens one session within `LINK_S`."""
        key = self._fresh()
        self._links.open(key, None, now=self._clock.now())
        return key

    async def redeem(self, key: str) -> Secret | None:
        """What the browser sends from now on, for a *key* that was not used before."""
        now = self._clock.now()
        if self._links.use_up(key, now=now) is None:
            return None
        token = self._fresh()
        session = self._sessions.open(token, None, now=now)
        try:
            await self._store.save(session, now=now)
        except StoreUnavailableError as failure:
            # It is valid all the same, until the brain restarts.
            log.warning("session_not_saved", {names.REASON: failure.reason})
        return token

    def admits(self, token: str | None) -> bool:
        return token is not None and self._sessions.find(token, now=self._clock.now()) is not None
