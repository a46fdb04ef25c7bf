"""Taking a fleet away, found by its label: also one whose writer was killed.

What stays are the Events that the control plane wrote about it, which it forgets after an hour.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from nemutator_common.clocks import Clock
from nemutator_controller.kube.calls import Call, Selection
from nemutator_controller.kube.failures import NotFoundError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import (
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    Resource,
)

from tests.hollow import writes
from tests.hollow.nodes import LEASES, NODES
from tests.hollow.plan import LABEL
from tests.hollow.sending import Sender

# Namespaces first: the controller that ends them looks after five seconds, in which most of the rest
# is gone. Owners before pods, or their controllers would mourn each.
ORDER: tuple[Resource[Any], ...] = (NAMESPACES, DEPLOYMENTS, REPLICA_SETS, PODS, NODES, LEASES)

NAMESPACES_GONE_S = 120.0
LOOK_AGAIN_S = 0.2


class NotClearedError(Exception):
    """Something of the fleet is still there."""


class Clearing:
    def __init__(self, fleet: str, transport: Transport, sender: Sender, clock: Clock) -> None:
        self._chosen = Selection(labels=f"{LABEL}={fleet}")
        self._read = Reader(transport)
        self._sender = sender
        self._clock = clock

    async def all(self) -> None:
        """Nothing of the fleet is there when this returns; else it raises."""
        for resource in ORDER:
            await self._clear(writes.metadata_of(resource))
        await self._until_namespaces_are_gone()
        if left := [f"{count} {plural}" for plural, count in (await self.left()).items() if count]:
            raise NotClearedError(f"still there: {', '.join(left)}; {self._sender.tally}")

    async def left(self) -> dict[str, int]:
        """How many there are of each resource."""
        counts = {}
        for resource in ORDER:
            counts[resource.plural] = 0
            async for _ in self._found(writes.metadata_of(resource)):
                counts[resource.plural] += 1
        return counts

    async def _clear(self, resource: Resource[Object]) -> None:
        found = [manifest async for manifest in self._found(resource)]

        async def end(manifest: Object) -> None:
            await self._gone(_ending(resource, manifest))

        await self._sender.each(found, end)

    async def _gone(self, call: Call) -> None:
        with contextlib.suppress(NotFoundError):
            await self._sender.send(call, done_by=(NotFoundError,))

    async def _found(self, resource: Resource[Object]) -> AsyncIterator[Object]:
        async for page in self._read.pages(resource, self._chosen):
            for manifest in page.items:
                yield manifest

    async def _until_namespaces_are_gone(self) -> None:
        deadline = self._clock.monotonic() + NAMESPACES_GONE_S
        while self._clock.monotonic() < deadline:
            if not [manifest async for manifest in self._found(writes.metadata_of(NAMESPACES))]:
                return
            await self._clock.sleep(LOOK_AGAIN_S)


def _ending(resource: Resource[Object], manifest: Object) -> Call:
    metadata = manifest.metadata
    ends = writes.finish if resource.plural == PODS.plural else writes.delete
    return ends(resource, metadata.namespace, metadata.name)
