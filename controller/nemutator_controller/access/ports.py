"""What access needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_common.secret import Secret

from nemutator_controller.access.sessions import Session
from nemutator_controller.access.signed_tokens import BoundPod
from nemutator_controller.kube.reviews import (
    AccessVerdict,
    PublishedKeys,
    TokenVerdict,
    User,
    Wish,
)


class SessionStore(Protocol):
    """Where sessions survive a restart of the brain."""

    async def load(self, *, now: float) -> Sequence[Session[None]]: ...

    async def save(self, session: Session[None], *, now: float) -> None: ...


class TokenReviewer(Protocol):
    """`kube.reviewing.Reviewer` is one."""

    async def token(self, token: Secret, audiences: tuple[str, ...] = ()) -> TokenVerdict: ...


class SigningKeySource(Protocol):
    """`kube.reviewing.Reviewer` is one."""

    async def signing_keys(self) -> PublishedKeys:
        """Raises KubeError."""
        ...


class RunningAgents(Protocol):
    """What the brain sees of the pods that call it."""

    def runs(self, pod: BoundPod) -> bool:
        """Whether exactly this pod is on its node, and is to stay; false also before all are known."""
        ...


class PeopleReviewer(TokenReviewer, Protocol):
    """`kube.reviewing.Reviewer` is one."""

    async def access(self, user: User, wish: Wish) -> AccessVerdict: ...
