"""Reads the images that pods with variables have, before their next pods come, those that policies pin, and all
of them again when tags may have moved.

What was read stays known while its registry is away, and digests also while the brain is. A registry that is away is left alone for a while, with all
of its images, so that the images of the others do not wait.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME, ImageSnapshot, ReadImage
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.images.documents import digest_of
from nemutator_controller.images.failures import OF_REGISTRY, ImageUnreadableError
from nemutator_controller.images.ports import ImageRegistry, ImagesInUse, KeptDigests
from nemutator_controller.images.references import ImageName, parse_image
from nemutator_controller.mutations.image_commands import ImageCommand

log = logging.getLogger(__name__)

MOST_IMAGES = 2_000
MOST_CHARACTERS = 4 << 20
"""Of all commands together: admission fetches them as one document."""

AT_ONCE = 4
CHECK_S = 1.0
"""A pod that requires us may be waiting for an image."""

GATHER_S = 10.0
"""Between two looks at all pods."""

STARTING_S = 60.0
"""Until when nobody is given less than all images in use: who has an older list has a better one."""

REPLACED_S = 120.0
"""After which an image that no pod has and no admission asks for makes room for another one. Those in use are
gathered anew well within this."""

FORGET_S = 86_400.0
"""After which an image is not read any more that no pod has and no admission has asked for."""

BACKOFF = Backoff(first_s=5.0, longest_s=600.0)
LONGEST_RETRY_AFTER_S = 3_600.0


@dataclass(slots=True)
class _Image:
    wanted_at: float
    due_at: float
    asked_at: float = -1.0
    """When its registry was asked last."""
    command: ImageCommand | None = None
    length: int = 0
    """Characters of the command."""
    digest: str = ""
    """Of the manifest that has the command."""
    named: str = ""
    """The digest that its name stands for: the same, unless what it starts now cannot be told."""
    problem: str = ""
    failures: int = 0

    @property
    def is_unread(self) -> bool:
        return self.command is None and not self.problem

    @property
    def is_new(self) -> bool:
        return self.is_unread and not self.named


@dataclass(frozen=True, slots=True)
class _Away:
    """A registry that is left alone."""

    failures: int
    until: float
    problem: str


@dataclass(slots=True)
class ImageReading:
    registry: ImageRegistry
    in_use: ImagesInUse
    kept: KeptDigests
    process: Process
    _: KW_ONLY
    refresh_s: float
    """After which the image of a tag is looked at again."""
    forget_s: float = FORGET_S
    _images: dict[str, _Image] = field(default_factory=dict, init=False)
    _away: dict[str, _Away] = field(default_factory=dict, init=False)
    """By registry."""
    _ready: bool = field(default=False, init=False)
    _stored: dict[str, str] = field(default_factory=dict, init=False)
    """The digests that are kept already."""
    _full: bool = field(default=False, init=False)
    _snapshot: tuple[ImageSnapshot, str] | None = field(default=None, init=False)

    def ask(self, images: Iterable[str]) -> None:
        """Admission has seen pods with these."""
        now = self.process.clock.monotonic()
        new: dict[str, None] = {}
        for image in images:
            known = self._images.get(image)
            if known is None:
                new[image] = None
            else:
                known.wanted_at = now
                if known.is_unread:
                    known.due_at = now
        if new:
            self._add(new, now)

    def _add(self, new: Collection[str], now: float) -> None:
        unwanted = iter(self._unwanted(now) if len(self._images) + len(new) > MOST_IMAGES else ())
        for image in new:
            is_too_long = len(image) > LONGEST_IMAGE_NAME
            if not is_too_long and len(self._images) >= MOST_IMAGES:
                replaced = next(unwanted, None)
                if replaced is not None:
                    del self._images[replaced]
                    self._snapshot = None
            if is_too_long or len(self._images) >= MOST_IMAGES:
                self.process.meter.count(names.IMAGE_QUESTIONS_DROPPED)
            else:
                self._images[image] = _Image(wanted_at=now, due_at=now)

    def _unwanted(self, now: float) -> list[str]:
        """Those that may make room, first those that were wanted longest ago."""
        found = [
            (image.wanted_at, name)
            for name, image in self._images.items()
            if now - image.wanted_at >= REPLACED_S
        ]
        return [name for _, name in sorted(found)]

    def snapshot(self) -> tuple[ImageSnapshot, str] | None:
        """What is known, and a tag that changes with it; None while that would be less than before a start."""
        if not self._ready:
            return None
        if self._snapshot is None:
            found = ImageSnapshot(
                reads=True,
                images=tuple(
                    _published(name, image)
                    for name, image in sorted(self._images.items())
                    if not image.is_unread
                ),
                digests={
                    name: image.named
                    for name, image in sorted(self._images.items())
                    if image.named and "@" not in name
                },
                full=self._full,
            )
            self._snapshot = found, digest_of(msgspec.json.encode(found)).rpartition(":")[2][:16]
        return self._snapshot

    async def restore(self) -> None:
        """What was kept counts until its registry has been asked again, which need not be at once."""
        now = self.process.clock.monotonic()
        self._stored = dict(await self.kept.all())
        for name, digest in self._stored.items():
            due_at = now + self.refresh_s * self.process.dice.random()
            self._images[name] = _Image(wanted_at=now, due_at=due_at, named=digest)

    async def run(self) -> None:
        clock = self.process.clock
        started_at, gathered_at = clock.monotonic(), -GATHER_S
        known = False
        while True:
            if clock.monotonic() - gathered_at >= GATHER_S:
                gathered_at = clock.monotonic()
                known = self._gather() or known
            due = self._due()
            async with asyncio.TaskGroup() as group:
                for name, image in due[:AT_ONCE]:
                    group.create_task(self._refresh(name, image))
            late = clock.monotonic() - started_at >= STARTING_S
            is_complete = known and not any(image.is_new for image in self._images.values())
            self._ready = self._ready or is_complete or late
            is_full = len(self._images) >= MOST_IMAGES and not self._unwanted(clock.monotonic())
            if is_full != self._full:
                self._full, self._snapshot = is_full, None
            self._show()
            await self._keep()
            await clock.sleep(0 if len(due) > AT_ONCE else CHECK_S)

    def _gather(self) -> bool:
        """Whether it is known which images are in use."""
        now = self.process.clock.monotonic()
        in_use = self.in_use.now()
        if in_use is not None:
            self.ask(in_use)
        for name, image in list(self._images.items()):
            if now - image.wanted_at >= self.forget_s:
                del self._images[name]
                self._snapshot = None
        return in_use is not None

    def _due(self) -> list[tuple[str, _Image]]:
        """Those that admission waits for come first, then those that were asked for longest ago: one image
        that its registry never answers for does not keep back the others there."""
        now = self.process.clock.monotonic()
        due = [
            (not image.is_new, image.asked_at, name)
            for name, image in self._images.items()
            if image.due_at <= now
        ]
        return [(name, self._images[name]) for _, _, name in sorted(due)]

    async def _refresh(self, name: str, image: _Image) -> None:
        registry = ""
        try:
            reference = parse_image(name)
            registry = reference.registry
            away = self._away.get(registry)
            if away is not None and away.until > self.process.clock.monotonic():
                self._put_off(image, away)
                return
            image.asked_at = self.process.clock.monotonic()
            result = await self._read(reference, image)
        except ImageUnreadableError as error:
            self._failed(name, image, registry, error)
            return
        if image.problem or image.failures:
            log.info("image_read", {names.IMAGE: name, names.ATTEMPT: image.failures + 1})
        image.problem, image.failures = "", 0
        self._away.pop(registry, None)
        self.process.meter.count(names.IMAGE_READS, result=result)
        # Images that were found together need not be looked at together.
        delay_s = self.refresh_s * (0.75 + 0.5 * self.process.dice.random())
        image.due_at = self.process.clock.monotonic() + delay_s

    def _put_off(self, image: _Image, away: _Away) -> None:
        image.due_at = away.until
        if image.is_unread:
            image.problem, self._snapshot = away.problem, None

    async def _read(self, reference: ImageName, image: _Image) -> str:
        if image.command is not None and image.digest:
            now = reference.digest or await self.registry.digest(reference)
            if now == image.digest:
                self._name(image, now)
                return "unchanged"
        found = await self.registry.read(reference)
        self._name(image, found.digest)
        length = sum(map(len, found.command.entrypoint + found.command.arguments))
        others = sum(other.length for other in self._images.values() if other is not image)
        if others + length > MOST_CHARACTERS:
            why = "the commands of all images are too long together"
            raise ImageUnreadableError("too_large", why)
        image.length = length
        if found.command != image.command:
            self._snapshot = None
        image.command, image.digest = found.command, found.digest
        return "read"

    def _name(self, image: _Image, digest: str) -> None:
        if digest != image.named:
            image.named, self._snapshot = digest, None

    def _failed(self, name: str, image: _Image, registry: str, error: ImageUnreadableError) -> None:
        now = self.process.clock.monotonic()
        if error.digest:
            self._name(image, error.digest)
        image.failures += 1
        failures, away = image.failures, self._away.get(registry)
        if error.reason in OF_REGISTRY and away is not None:
            failures = away.failures + 1
        delay_s = BACKOFF.delay_s(failures, roll=self.process.dice.random())
        delay_s = max(delay_s, min(error.retry_after_s, LONGEST_RETRY_AFTER_S))
        image.due_at = now + delay_s
        if error.reason in OF_REGISTRY:
            self._away[registry] = _Away(failures, image.due_at, str(error))
        self.process.meter.count(names.IMAGE_READS, result=error.reason)
        if image.problem != str(error):
            image.problem = str(error)
            self._snapshot = None
            log.warning(
                "image_not_read",
                {names.IMAGE: name, names.REASON: error.reason, names.ERROR: str(error)},
            )

    async def _keep(self) -> None:
        digests = {name: image.named for name, image in self._images.items() if image.named}
        changed: dict[str, str | None] = dict.fromkeys(self._stored.keys() - digests.keys())
        changed |= dict(digests.items() - self._stored.items())
        if not changed:
            return
        try:
            await self.kept.keep(changed)
        except StoreUnavailableError:
            # The database has counted it. The difference is as large the next time.
            return
        self._stored = digests

    def _show(self) -> None:
        read = sum(image.command is not None for image in self._images.values())
        self.process.meter.gauge(names.IMAGES, read, state="read")
        self.process.meter.gauge(names.IMAGES, len(self._images) - read, state="unread")


def _published(name: str, image: _Image) -> ReadImage:
    if image.command is None:
        return ReadImage(image=name, problem=image.problem)
    return ReadImage(
        image=name, entrypoint=image.command.entrypoint, arguments=image.command.arguments
    )
