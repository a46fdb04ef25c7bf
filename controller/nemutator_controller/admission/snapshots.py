"""The snapshots of the brain that admission answers from: advice, tokens, images, what was taken back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec
from nemutator_common.admission_snapshots import (
    LONGEST_IMAGE_NAME,
    MOST_TALKERS,
    MOST_TALKING,
    ImageSnapshot,
    ReadImage,
    RecommendedContainer,
    SeasonSnapshot,
    TalkerSnapshot,
    TombstoneSnapshot,
    UnwantedSnapshot,
)

from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations.advisor import (
    Name,
    NoAdvice,
    RecommendedAmount,
    Side,
    WorkloadRef,
)
from nemutator_controller.mutations.image_commands import (
    AWAITED,
    NO_IMAGE_COMMANDS,
    ImageCommand,
    ImageCommands,
    NoImageCommand,
)
from nemutator_controller.mutations.image_digests import ImageDigests, NoDigest, WithoutDigests
from nemutator_controller.mutations.talkers import Talker, Talkers
from nemutator_controller.policies.snapshot import NO_SEASON, RESIZES_HELD, InSeason

T = TypeVar("T")

FIRM = "firm"
"""The one state of advice that changes pods: provisional advice may have seen no more than a start."""

DIGEST_AWAITED = "its digest is being looked up in its registry; pods of some seconds later get it"
NO_REGISTRIES = WithoutDigests(
    NoDigest("off", "no registry is asked: the setting brain.image_registries is empty")
)

Tombstones = Mapping[tuple[str, str, str], frozenset[str]]
"""The paths that were taken back, by namespace, kind and name of a workload."""


UnwantedByWorkload = Mapping[tuple[str, str, str], frozenset[str]]
"""Keys of labels that selectors want pods without, in the same way."""


class SnapshotError(ValueError):
    """The document is not such a snapshot; the text says why."""


@dataclass(frozen=True, slots=True)
class SnapshotAdvisor:
    """An `Advisor` from the brain's snapshot."""

    items: Mapping[tuple[WorkloadRef, str], RecommendedContainer]
    """By workload and name of the container."""

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> RecommendedAmount | NoAdvice:
        item = self.items.get((workload, container))
        if item is None:
            return NoAdvice("the brain has not seen this container run yet")
        if item.state != FIRM:
            return NoAdvice(f"no firm advice yet: {item.reason}")
        amounts = item.requests if side == "requests" else item.limits
        text = {"cpu": amounts.cpu, "memory": amounts.memory}.get(name)
        if text is None:
            why = f": {item.reason}" if item.reason else ""
            return NoAdvice(f"{item.strategy} gives no {side} of {name}{why}")
        try:
            amount = parse_quantity(text)
        except QuantityError as error:
            return NoAdvice(f"the advice is not an amount: {error}")
        return RecommendedAmount(amount, f"{item.strategy}, {item.points} points")


class ImageQuestioner(Protocol):
    """Passes on to the brain which images count here."""

    def add(self, image: str) -> None:
        """One that is not in the snapshot."""
        ...

    def use(self, image: str) -> None:
        """One whose digest was taken from the snapshot, so that the brain goes on looking it up."""
        ...


@dataclass(frozen=True, slots=True)
class SnapshotImages:
    """An `ImageCommands` and an `ImageDigests` from the brain's snapshot."""

    items: Mapping[str, ReadImage]
    digests: Mapping[str, str]
    questions: ImageQuestioner
    full: bool
    """Whether the brain reads no others."""

    def of(self, image: str) -> ImageCommand | NoImageCommand:
        tagged, _, digest = image.partition("@")
        # A policy may have pinned what was read by its tag.
        name = tagged if digest and self.digests.get(tagged) == digest else image
        item = self.items.get(name)
        if item is None:
            why = self._unknown(name)
            return NoImageCommand(why) if why else NoImageCommand(AWAITED, soon=True)
        if item.problem:
            return NoImageCommand(item.problem)
        return ImageCommand(item.entrypoint, item.arguments)

    def digest(self, image: str) -> str | NoDigest:
        digest = self.digests.get(image)
        if digest is not None:
            self.questions.use(image)
            return digest
        item = self.items.get(image)
        if item is not None and item.problem:
            return NoDigest("unread", item.problem)
        why = self._unknown(image)
        return NoDigest("unread", why) if why else NoDigest("awaited", DIGEST_AWAITED)

    def _unknown(self, image: str) -> str:
        """Why it will not be known soon; empty: the brain is asked for it."""
        if len(image) > LONGEST_IMAGE_NAME:
            return f"its name has more than {LONGEST_IMAGE_NAME} characters"
        self.questions.add(image)
        return "the brain reads so many images that it reads no others" if self.full else ""


def images_from(document: bytes, questions: ImageQuestioner) -> tuple[ImageCommands, ImageDigests]:
    """From the document at `IMAGES_PATH`."""
    found = decoded(document, ImageSnapshot, "images")
    if not found.reads:
        return NO_IMAGE_COMMANDS, NO_REGISTRIES
    items = {item.image: item for item in found.images}
    images = SnapshotImages(items, found.digests, questions, found.full)
    return images, images


def tombstones_from(document: bytes) -> Tombstones:
    """From the document at `TOMBSTONES_PATH`."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for stone in decoded(document, TombstoneSnapshot, "tombstones").tombstones:
        workload = stone.namespace, stone.owner_kind, stone.owner_name
        found.setdefault(workload, set()).add(stone.path)
    return {workload: frozenset(paths) for workload, paths in found.items()}


def unwanted_from(document: bytes) -> UnwantedByWorkload:
    """From the document at `UNWANTED_PATH`."""
    return {
        (one.namespace, one.owner_kind, one.owner): frozenset(one.keys)
        for one in decoded(document, UnwantedSnapshot, "workloads").items
    }


def talkers_from(document: bytes) -> Talkers:
    """From the document at `TALKERS_PATH`."""
    items = decoded(document, TalkerSnapshot, "talkers").items[:MOST_TALKING]
    return Talkers(
        {
            WorkloadRef(one.namespace, one.owner_kind, one.owner): tuple(
                Talker(peer.namespace, peer.labels, min(max(peer.quarters, 1), 4) / 4)
                for peer in one.peers[:MOST_TALKERS]
            )
            for one in items
        }
    )


def in_season_from(document: bytes) -> InSeason:
    """From the document at `SEASONS_PATH`."""
    found = decoded(document, SeasonSnapshot, "seasons")
    return frozenset(found.in_season) | ({RESIZES_HELD} if found.resizes_held else NO_SEASON)


def decoded(document: bytes | msgspec.Raw, shape: type[T], what: str) -> T:
    """Raises `SnapshotError`."""
    try:
        return msgspec.json.decode(document, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SnapshotError(f"not a list of {what}: {error}") from error
