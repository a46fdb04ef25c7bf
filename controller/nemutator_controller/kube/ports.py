"""What the engines of this package need from the world.

`transport.py` is the real transport; `incluster.py` knows how to get in.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.configuration import Access


class Transport(Protocol):
    """Carries calls to the API server. All that can go wrong comes as a `KubeError`."""

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
        """How to get in now. *renew*: what was given before has just been refused."""
        ...
