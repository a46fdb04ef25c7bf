"""Who may use the console in a cluster: by their own token, and what RBAC grants them.

Verdicts are kept for a short time only. When the API server cannot be asked nobody is let in who
was not let in just now.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.names import DOMAIN
from nemutator_common.secret import Secret

from nemutator_controller.console.permissions import Permission
from nemutator_controller.ingest.verdicts import Verdicts, digest
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.reviewing import AccessVerdict, TokenVerdict, User, Wish

log = logging.getLogger(__name__)

FRESH_S = 30.0
ASK_S = 5.0
AT_ONCE = 8
MOST_SESSIONS = 256


class Reviews(Protocol):
    """`kube.reviewing.Reviewer` is one."""

    async def token(self, token: Secret, audiences: tuple[str, ...] = ()) -> TokenVerdict: ...

    async def access(self, user: User, wish: Wish) -> AccessVerdict: ...


class PeopleUnknownError(Exception):
    """The API server does not answer: neither let in nor refused."""


@dataclass(frozen=True, slots=True)
class _Session:
    token: Secret
    expires_at: float


class People:
    """*fresh* makes a secret that nobody can guess. Sessions are in memory, and so are tokens."""

    def __init__(
        self,
        reviews: Reviews,
        *,
        session_s: float,
        fresh: Callable[[], Secret],
        clock: Clock,
    ) -> None:
        self._reviews = reviews
        self._session_s = session_s
        self._fresh = fresh
        self._clock = clock
        self._users: Verdicts[User | None] = Verdicts(most=2_000)
        self._allowed: Verdicts[bool] = Verdicts(most=10_000)
        self._sessions: dict[bytes, _Session] = {}
        self._asking = asyncio.Semaphore(AT_ONCE)

    async def user(self, token: Secret) -> User | None:
        """Whose *token* is; None: nobody's."""
        key, now = digest(token.reveal()), self._clock.monotonic()
        kept = self._users.find(key)
        if kept is not None and kept.is_younger(FRESH_S, now=now):
            return kept.verdict
        verdict = await self._ask(lambda: self._reviews.token(token))
        user = verdict.user if verdict.authenticated and verdict.user.username else None
        self._users.keep(key, user, now=now)
        return user

    async def may(self, user: User, permission: Permission, *, namespace: str) -> bool:
        """Whether *user* has *permission*, in all namespaces when *namespace* is empty."""
        # What a token proves besides can narrow it: OpenShift keeps a token's scopes there.
        extra = tuple(sorted(user.extra.items()))
        key = (user.username, user.uid, user.groups, extra, permission, namespace)
        now = self._clock.monotonic()
        kept = self._allowed.find(key)
        if kept is not None and kept.is_younger(FRESH_S, now=now):
            return kept.verdict
        wish = Wish(
            verb=permission.verb, resource=_resource(permission.resource), namespace=namespace
        )
        verdict = await self._ask(lambda: self._reviews.access(user, wish))
        allowed: bool = verdict.allowed
        self._allowed.keep(key, allowed, now=now)
        return allowed

    async def sign_in(self, token: Secret) -> Secret | None:
        """What the browser shows from now on in the place of *token*; None: it is nobody's."""
        if await self.user(token) is None:
            return None
        session, now = self._fresh(), self._clock.now()
        alive = {key: one for key, one in self._sessions.items() if one.expires_at > now}
        for key in list(alive)[: max(0, len(alive) + 1 - MOST_SESSIONS)]:
            del alive[key]
        self._sessions = alive | {digest(session.reveal()): _Session(token, now + self._session_s)}
        return session

    def token_of(self, session: str) -> Secret | None:
        """The token that the browser with *session* signed in with."""
        found = self._sessions.get(digest(session))
        return found.token if found and found.expires_at > self._clock.now() else None

    async def _ask(self, question: Callable[[], Any]) -> Any:
        try:
            async with asyncio.timeout(ASK_S), self._asking:
                return await question()
        except (KubeError, TimeoutError) as error:
            log.warning("person_not_reviewed", {names.ERROR: error})
            raise PeopleUnknownError("the API server does not answer") from error


def _resource(plural: str) -> Resource[Object]:
    return Resource(DOMAIN, "v1", plural, plural, Object)
