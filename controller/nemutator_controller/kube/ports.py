"""What the engines of this package need from the world.

`transport.py` is the real transport; `incluster.py` is the real configuration.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.configuration import Access


class Transport(Protocol):
    """Carries calls to the API server. Every failure is raised as a `KubeError`."""

    async def send(self, call: Call) -> bytes:
        """The whole body of a successful answer."""
        ...

    def stream(
        self, call: Call, *, idle_s: float
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The body as it comes; *idle_s* without a byte is an `UnavailableError`."""
        ...


class Configuration(Protocol):
    """Where the API server is and what proves who we are, which changes while we run."""

    async def access(self, *, renew: bool = False) -> Access:
        """Address and credentials as of now. *renew*: those of before have just been refused."""
        ...
