"""An API server that is asked about nothing but tokens and permissions."""

import base64

import msgspec
from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_common.secret import Secret
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.reviews import AccessVerdict, TokenVerdict, User, Wish


def account_token(
    subject: str, *, audience: object = (str(BRAIN_AUDIENCE),), mark: str = ""
) -> str:
    """A token that claims to be of the service account *subject*; *mark* tells it from others."""
    claims = {"sub": subject, "aud": audience, "mark": mark}
    payload = base64.urlsafe_b64encode(msgspec.json.encode(claims)).rstrip(b"=").decode()
    return f"e30.{payload}.c2ln"


class MemoryReviews:
    def __init__(self) -> None:
        self.tokens: dict[str, TokenVerdict] = {}
        self.allowed: set[tuple[str, str, str, str]] = set()
        """User, verb, resource, namespace."""
        self.asked: list[str] = []
        self.broken: KubeError | None = None

    def knows(self, token: str, username: str, **extra: str) -> None:
        """Make *token* prove to be *username*, to whatever audience is asked for."""
        claims: dict[str, tuple[str, ...]] = {
            f"authentication.kubernetes.io/{k}-name": (v,) for k, v in extra.items()
        }
        self.tokens[token] = TokenVerdict(
            authenticated=True, user=User(username, "uid", (), claims), audiences=()
        )

    async def token(self, token: Secret, audiences: tuple[str, ...] = ()) -> TokenVerdict:
        self._ask("token")
        msgspec.json.encode(audiences)  # as it would travel
        verdict = self.tokens.get(token.reveal())
        if verdict is None:
            return TokenVerdict()
        return TokenVerdict(authenticated=True, user=verdict.user, audiences=tuple(audiences))

    async def access(self, user: User, wish: Wish) -> AccessVerdict:
        self._ask("access")
        asked = (user.username, wish.verb, wish.resource.plural, wish.namespace)
        return AccessVerdict(asked in self.allowed or (*asked[:3], "") in self.allowed)

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.broken is not None:
            raise self.broken
