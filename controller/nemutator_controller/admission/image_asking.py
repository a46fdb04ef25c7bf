"""Asks the brain for the images of pods that it does not know yet, as often as its list is fetched."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, MOST_IMAGE_QUESTIONS
from nemutator_common.meters import Meter

MOST_WAITING = 1_000


@dataclass(slots=True)
class UnreadImages:
    """Images that pods were created with, until the brain was asked for them."""

    meter: Meter
    _names: dict[str, None] = field(default_factory=dict, init=False)

    def add(self, image: str) -> None:
        if image in self._names:
            return
        if len(self._names) >= MOST_WAITING or len(image) > LONGEST_IMAGE_NAME:
            self.meter.count(names.IMAGE_QUESTIONS_DROPPED)
        else:
            self._names[image] = None

    def some(self) -> tuple[str, ...]:
        return tuple(self._names)[:MOST_IMAGE_QUESTIONS]

    def remove(self, images: tuple[str, ...]) -> None:
        for image in images:
            self._names.pop(image, None)


@dataclass(frozen=True, slots=True)
class AskedImages:
    unread: UnreadImages
    ask: Callable[[tuple[str, ...]], Awaitable[None]]
    """Raises `LinkError`."""
    fetch: Callable[[str], Awaitable[bytes]]
    """Returns the document at a path; raises `LinkError`."""

    async def get(self, path: str) -> bytes:
        """Raises `LinkError`."""
        if images := self.unread.some():
            await self.ask(images)
            self.unread.remove(images)
        return await self.fetch(path)
