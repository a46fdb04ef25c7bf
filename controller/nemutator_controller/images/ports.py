"""What reading images needs from others."""

from collections.abc import Collection, Mapping
from typing import Protocol

from nemutator_controller.images.documents import FoundImage
from nemutator_controller.images.references import ImageName


class ImageRegistry(Protocol):
    async def read(self, image: ImageName) -> FoundImage:
        """Raises ImageUnreadableError, which has the digest where only the rest cannot be told."""
        ...

    async def digest(self, image: ImageName) -> str:
        """Of the manifest that it would read, which costs less; empty: it does not say.
        Raises ImageUnreadableError."""
        ...


class KeptDigests(Protocol):
    """Outlives the brain."""

    async def all(self) -> Mapping[str, str]:
        """By image. Raises StoreUnavailableError."""
        ...

    async def keep(self, changed: Mapping[str, str | None]) -> None:
        """None: it is forgotten. Raises StoreUnavailableError."""
        ...


class ImagesInUse(Protocol):
    def now(self) -> Collection[str] | None:
        """The images of pods that declare variables; None while pods are not known."""
        ...
