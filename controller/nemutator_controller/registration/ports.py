"""What registration needs from others."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from nemutator_controller.registration.certificates import Pair


class Installation(Protocol):
    """Our objects in Kubernetes. Every call may raise a `KubeError`."""

    async def pair(self, name: str) -> Pair | None:
        """The certificate and key in our Secret *name*; None when it is missing or has none."""
        ...

    async def save_pair(self, name: str, pair: Pair) -> None:
        """Store them there."""
        ...

    async def audit_keys(self) -> bytes | None:
        """The text of our Secret of audit keys; None when it is missing."""
        ...

    async def make_audit_key(self) -> bytes:
        """Make the first one and store it; what is there is never replaced."""
        ...

    async def publish(self, authority: str) -> None:
        """Make *authority* (PEM) known to all our pods."""
        ...

    async def webhooks(self, name: str) -> Mapping[str, Any] | None:
        """The configuration of webhooks *name*; None when it is missing."""
        ...

    async def patch_webhooks(self, name: str, operations: Sequence[Mapping[str, Any]]) -> None: ...


class OwnLeaf(Protocol):
    """The brain's own certificate, where its listeners read it."""

    def read(self) -> Pair | None: ...

    def write(self, pair: Pair) -> None:
        """Replace both; raises `OperatorError`."""
        ...
