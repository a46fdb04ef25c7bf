"""Asks the brain for the images of pods that it does not know yet, as often as its list is fetched; and names
those in use, so that it goes on knowing them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, MOST_IMAGE_QUESTIONS
from nemutator_common.process import Process

MOST_WAITING = 1_000

TELL_S = 3_600.0
"""After which an image that is still used is named to the brain again, which forgets what nobody names."""

MOST_USED = 2_000
"""As many as the brain looks up."""


@dataclass(slots=True)
class WantedImages:
    """Images that pods were created with, until the brain was asked for them."""

    process: Process
    _names: dict[str, None] = field(default_factory=dict, init=False)
    _used: dict[str, float] = field(default_factory=dict, init=False)
    """When the brain was told last that an image is used."""

    def add(self, image: str) -> None:
        """One that the brain does not know yet."""
        if image in self._names:
            return
        if len(self._names) >= MOST_WAITING or len(image) > LONGEST_IMAGE_NAME:
            self.process.meter.count(names.IMAGE_QUESTIONS_DROPPED)
        else:
            self._names[image] = None

    def use(self, image: str) -> None:
        """One that it knows."""
        now = self.process.clock.monotonic()
        told = self._used.get(image)
        if told is not None and now - told < TELL_S:
            return
        if told is None and len(self._used) >= MOST_USED:
            self._used.clear()
        self._used[image] = now
        self.add(image)

    def some(self) -> tuple[str, ...]:
        return tuple(self._names)[:MOST_IMAGE_QUESTIONS]

    def remove(self, images: tuple[str, ...]) -> None:
        for image in images:
            self._names.pop(image, None)


@dataclass(frozen=True, slots=True)
class AskedImages:
    wanted: WantedImages
    ask: Callable[[tuple[str, ...]], Awaitable[None]]
    """Raises `LinkError`."""
    fetch: Callable[[str], Awaitable[bytes]]
    """Returns the document at a path; raises `LinkError`."""

    async def get(self, path: str) -> bytes:
        """Raises `LinkError`."""
        if images := self.wanted.some():
            await self.ask(images)
            self.wanted.remove(images)
        return await self.fetch(path)
