"""People who use the console of a cluster: by a token of their own, and by what RBAC grants them.

What the API server answered is believed for a short time only: while it cannot be asked, nobody is
let in who was not let in just now.
"""

from collections.abc import Callable

from nemutator_common.names import DOMAIN
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.access.digests import digest
from nemutator_controller.access.permissions import Permission
from nemutator_controller.access.ports import PeopleReviewer
from nemutator_controller.access.sessions import Sessions
from nemutator_controller.access.token_reviews import ReviewVerdicts
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.reviews import User, Wish

FRESH_S = 30.0
AT_ONCE = 8
MOST_SESSIONS = 256


class People:
    """*fresh* makes a secret that nobody can guess. Sessions are in memory, and so are tokens."""

    def __init__(
        self,
        reviewer: PeopleReviewer,
        process: Process,
        *,
        session_s: float,
        fresh: Callable[[], Secret],
    ) -> None:
        self._reviewer = reviewer
        self._clock = process.clock
        self._fresh = fresh
        self._sessions: Sessions[Secret] = Sessions(lasting_s=session_s, most=MOST_SESSIONS)
        self._users: ReviewVerdicts[User | None] = ReviewVerdicts(
            fresh_s=FRESH_S, outage_s=0, most=2_000, at_once=AT_ONCE, process=process
        )
        self._allowed: ReviewVerdicts[bool] = ReviewVerdicts(
            fresh_s=FRESH_S, outage_s=0, most=10_000, at_once=AT_ONCE, process=process
        )

    async def user(self, token: Secret, *, source: str) -> User | None:
        """The user of *token*, sent from the address *source*; None when it belongs to nobody. Raises
        UnknownNowError."""

        async def ask() -> User | None:
            verdict = await self._reviewer.token(token)
            return verdict.user if verdict.authenticated and verdict.user.username else None

        return (await self._users.find(digest(token.reveal()), ask, source=source)).value

    async def may(self, user: User, permission: Permission, *, namespace: str) -> bool:
        """Whether *user* has *permission*, in all namespaces when *namespace* is empty."""

        async def ask() -> bool:
            return (await self._reviewer.access(user, wish)).allowed

        wish = Wish(
            verb=permission.verb, resource=_resource(permission.resource), namespace=namespace
        )
        # What a token proves besides can narrow it: OpenShift keeps a token's scopes there.
        extra = tuple(sorted(user.extra.items()))
        key = (user.username, user.uid, user.groups, extra, permission, namespace)
        return (await self._allowed.find(key, ask, source=user.username)).value

    async def sign_in(self, token: Secret, *, source: str) -> Secret | None:
        """What the browser sends from now on in place of *token*; None when that belongs to nobody."""
        if await self.user(token, source=source) is None:
            return None
        secret = self._fresh()
        self._sessions.open(secret, token, now=self._clock.now())
        return secret

    def token_of(self, session: str) -> Secret | None:
        """The token that the browser with *session* signed in with."""
        found = self._sessions.find(session, now=self._clock.now())
        return None if found is None else found.value


def _resource(plural: str) -> Resource[Object]:
    return Resource(DOMAIN, "v1", plural, plural, Object)
