"""Single reads: an object, or a list page by page. What is read again and again has an informer."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeVar

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


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads through a transport; every failure is a `KubeError`, and nothing is retried."""

    transport: Transport

    async def raw(self, resource: Resource[T], namespace: str, name: str) -> bytes:
        """The object as the server has it, for a patch that needs all of it."""
        return await self.transport.send(calls.getting(resource, namespace, name))

    async def pages(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, limit: int = PAGE
    ) -> AsyncIterator[Page[T]]:
        """The list in pages; each page names the objects in it that cannot be read."""
        decoder = Decoder(resource.shape)
        after = ""
        while True:
            call = calls.listing(resource, selection, limit=limit, after=after)
            page = page_in(await self.transport.send(call), call, decoder)
            yield page
            after = page.next
            if not after:
                return


def page_in(body: bytes, call: Call, decoder: Decoder[T]) -> Page[T]:
    """The page of a list that *call* was answered with; raises `UnavailableError`."""
    try:
        return decoder.page(body)
    except NotAListError as error:
        raise UnavailableError(call.asked, f"the answer is no list: {error}") from error
