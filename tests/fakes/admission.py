"""What admission answers from and records into, in memory."""

from collections.abc import Mapping
from typing import Any

import msgspec
from nemutator_controller.mutations.advisor import Advisor, WithoutAdvice
from nemutator_controller.mutations.image_commands import NO_IMAGE_COMMANDS, ImageCommands
from nemutator_controller.mutations.image_digests import NO_DIGESTS, ImageDigests
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.talkers import NO_TALKERS, Talkers
from nemutator_controller.policies.snapshot import InSeason, Policies, snapshot_of


class MemoryWorld:
    """A `World` that a test fills."""

    def __init__(self, **specs: Any) -> None:
        self.policies: Policies | None = snapshot_of(specs)
        self.advisor: Advisor = WithoutAdvice("no advice has come from the brain yet")
        self.tokens: KnownTokens | None = None
        self.images: ImageCommands = NO_IMAGE_COMMANDS
        self.bounds = ResourceBounds()
        self.digests: ImageDigests = NO_DIGESTS
        self.talkers: Talkers = NO_TALKERS
        self.namespaces: dict[str, Mapping[str, str]] = {"default": {}}
        self.in_season: InSeason = frozenset()
        self.taken_back: frozenset[str] = frozenset()
        self.unwanted: frozenset[str] = frozenset()
        self.handlers: dict[str, str] = {}
        self._moments: dict[bool, tuple[int, object]] = {}

    def moment(self, *, with_bounds: bool) -> int:
        known: tuple[object, ...] = (
            {name: dict(labels) for name, labels in self.namespaces.items()},
            self.taken_back,
            self.unwanted,
            self.bounds if with_bounds else None,
        )
        number, last = self._moments.get(with_bounds, (0, None))
        if known != last:
            number += 1
            self._moments[with_bounds] = number, known
        return number

    def resource_bounds(self, namespace: str) -> ResourceBounds:
        return self.bounds

    def runtime_handler(self, runtime_class: str) -> str | None:
        return self.handlers.get(runtime_class)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return self.namespaces.get(namespace)

    def reversed(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        return self.taken_back

    def unwanted_labels(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        return self.unwanted


class MemoryRecords:
    """`Records` that can fail."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self.durable: list[bool] = []
        self.failure: Exception | None = None

    def keep(self, record: bytes) -> None:
        self._keep(record, durable=False)

    async def save(self, record: bytes, *, durable: bool) -> None:
        self._keep(record, durable=durable)

    def _keep(self, record: bytes, *, durable: bool) -> None:
        if self.failure is not None:
            raise self.failure
        self.kept.append(msgspec.json.decode(record))
        self.durable.append(durable)
