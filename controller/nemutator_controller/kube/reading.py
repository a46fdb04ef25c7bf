"""One-shot reads: an object, its bytes, or a list page by page.

These are for what is read once. Whoever reads again wants an informer.
"""

from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec

from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call, Selection
from nemutator_controller.kube.decoder import Decoder, NotAListError, Page
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import Resource

T = TypeVar("T", bound=Object)

PAGE = 500
EVERYTHING = Selection()


class Reader:
    """Reads through a transport; every failure is a `KubeError`, and nothing is retried."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def version(self) -> str:
        """The server's version, as `v1.36.3`."""
        call = Call(verb="get", method="GET", path="/version", asked="get /version")
        try:
            answer = msgspec.json.decode(await self._transport.send(call), type=_Version)
        except msgspec.DecodeError as error:
            raise UnavailableError(call.asked, f"this is no API server: {error}") from error
        return answer.git_version

    async def raw(self, resource: Resource[T], namespace: str, name: str) -> bytes:
        """The object as the server has it, for a patch that needs all of it."""
        return await self._transport.send(calls.getting(resource, namespace, name))

    async def get(self, resource: Resource[T], namespace: str, name: str) -> T:
        call = calls.getting(resource, namespace, name)
        body = await self._transport.send(call)
        try:
            return Decoder(resource.shape).object(body)
        except msgspec.DecodeError as error:
            raise UnavailableError(call.asked, f"it cannot be read: {error}") from error

    async def pages(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, limit: int = PAGE
    ) -> AsyncIterator[Page[T]]:
        """The list in pages; each page names the objects in it that cannot be read."""
        decoder = Decoder(resource.shape)
        after = ""
        while True:
            call = calls.listing(resource, selection, limit=limit, after=after)
            try:
                page = decoder.page(await self._transport.send(call))
            except NotAListError as error:
                raise UnavailableError(call.asked, f"the answer is no list: {error}") from error
            yield page
            after = page.next
            if not after:
                return


class _Version(msgspec.Struct, rename="camel"):
    git_version: str
