"""The verb `image`: from where images come, and in which version.

Tags are changed first, by the names that the pod's author has written, then repositories; then tags get the
digests that they name; and what comes out must be from an allowed source.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec
from msgspec import structs

from nemutator_controller.mutations import image_pull_policy, known_tokens
from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.image_digests import ImageDigests, NoDigest, Unpinned
from nemutator_controller.mutations.image_references import (
    LONGEST_REPOSITORY,
    PREFIX,
    TAG,
    ImageReference,
    ImageReferenceError,
    glob_faults,
    parse_image,
    usual_pull_policy,
)
from nemutator_controller.mutations.paths import Path

VERB = "image"

MOST_RULES = 32

USUAL = "as an API server fills it in for that image"

Prefix = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_REPOSITORY)]
Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class Move(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    rename={"origin": "from", "target": "to"},
):
    """Repositories below one prefix are below another: a mirror has them."""

    origin: Prefix
    target: Prefix


class TagRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    images: Globs
    """On repositories in full, like `docker.io/library/ubuntu`."""
    tags: Globs = ("*",)
    """On the tag that is meant: `latest` where none is written."""
    set: Tag


class ImageRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Of tags and of moves the first rule that fits counts."""

    containers: Globs = ("*",)
    tags: Annotated[tuple[TagRule, ...], msgspec.Meta(max_length=MOST_RULES)] = ()
    move: Annotated[tuple[Move, ...], msgspec.Meta(max_length=MOST_RULES)] = ()
    pin: Globs | None = None
    """On repositories in full, as they come out: a tag gets the digest beside it that it names in its
    registry."""
    allowed: Globs | None = None
    """On repositories in full; all others are offenders."""
    offenders: Literal["Warn", "Refuse"] = "Warn"


OffenderResult = Literal["warned", "refused", "previewed"]
"""What happens to its pod: let in with a warning, not let in, or nothing."""


@dataclass(frozen=True, slots=True)
class Offender:
    """An image that a policy does not allow."""

    policy: str
    why: str
    result: OffenderResult


@dataclass(frozen=True, slots=True)
class UnpinnedImage:
    """An image that a policy wants pinned, and whose digest is not known."""

    why: str
    reason: Unpinned


ImageFinding = str | Offender | UnpinnedImage


def apply(
    draft: Draft, rules: ImageRules, digests: ImageDigests, *, policy: str
) -> list[ImageFinding]:
    """Warnings, and the images that are not allowed or not pinned."""
    found: list[ImageFinding] = []
    for path, container in chosen(draft, rules.containers):
        written = container.get(VERB)
        # An API server refuses a pod without one; the template of a workload may lack it.
        if isinstance(written, str) and written:
            found += _applied(draft, path, written, rules, digests, policy)
    return found


def _applied(
    draft: Draft, around: Path, written: str, rules: ImageRules, digests: ImageDigests, policy: str
) -> Iterator[ImageFinding]:
    path = around / VERB
    try:
        before = parse_image(written)
    except ImageReferenceError as error:
        fault = f"policy {policy}: {path}: left alone: {error}"
        yield fault if rules.allowed is None else _offender(rules, policy, fault)
        return
    reasons: list[str] = []
    tagged = before
    rule = next((each for each in rules.tags if _fits(before, each)), None)
    if rule is not None and before.tag != rule.set:
        if before.digest:
            yield f"policy {policy}: {path}: its tag is left alone: the image is pinned by its digest"
        else:
            tagged = before.tagged(rule.set)
            reasons.append(f"tag {before.version} → {rule.set}")
    after = tagged
    for move in rules.move:
        if (moved := tagged.moved(move.origin, move.target)) is not None:
            after = moved
            reasons.append(f"{move.origin} → {move.target}")
            break
    if rules.pin is not None and not after.digest and _any(rules.pin, after.repository):
        named = after.tagged(after.version)
        known = digests.digest(str(named))
        if isinstance(known, NoDigest):
            yield UnpinnedImage(f"policy {policy}: {path}: not pinned: {known.why}", known.reason)
        else:
            after = replace(named, digest=known)
            reasons.append(f"what {named.tag} names")
    if after != before:
        replace_image(draft, around, written, str(after), Author(VERB, policy, "; ".join(reasons)))
    if rules.allowed is not None and not _any(rules.allowed, after.repository):
        why = f"policy {policy}: {path}: {after.repository} is not an allowed source"
        yield _offender(rules, policy, why)


def replace_image(draft: Draft, container: Path, written: str, after: str, author: Author) -> None:
    """*after* in the place of *written*. Where the container's `imagePullPolicy` is only what an API server has filled
    in for that one, it gets what it fills in for *after*."""
    if draft.leaves(container / VERB):
        return
    before = draft.author(container / VERB)
    if before is not None and before.policy in (author.policy, known_tokens.POLICY):
        # It goes on from what that one has made.
        author = structs.replace(
            author, reason="; ".join(filter(None, (before.reason, author.reason)))
        )
    draft.set(container / VERB, after, author)
    path, wanted = container / image_pull_policy.VERB, usual_pull_policy(after)
    earlier = draft.author(path)
    if draft.value(path) == (usual_pull_policy(written),) and (
        # A policy's own word stays.
        earlier is None or earlier.verb == VERB
    ):
        draft.set(path, wanted, Author(VERB, author.policy, USUAL))


def repositories(draft: Draft) -> tuple[str, ...]:
    """Of the images of all containers, in full; what cannot be read is nobody's repository."""
    found: list[str] = []
    for _, container in chosen(draft, ("*",)):
        written = container.get(VERB)
        with contextlib.suppress(ImageReferenceError):
            if isinstance(written, str):
                found.append(parse_image(written).repository)
    return tuple(found)


def faults(rules: ImageRules) -> Iterator[str]:
    if not rules.tags and not rules.move and rules.pin is None and rules.allowed is None:
        yield "tags: name at least one rule here, in move, in pin or in allowed"
    if rules.offenders == "Refuse" and rules.allowed is None:
        yield "offenders: without allowed there are none"
    for field, globs in (("pin", rules.pin), ("allowed", rules.allowed)):
        yield from (f"{field}{fault}" for fault in glob_faults(globs or ()))
    for index, rule in enumerate(rules.tags):
        yield from (f"tags[{index}].images{fault}" for fault in glob_faults(rule.images))
        if not TAG.fullmatch(rule.set):
            yield f"tags[{index}].set: expected a tag: letters, digits, - _ ."
    for index, move in enumerate(rules.move):
        for field, prefix in (("from", move.origin), ("to", move.target)):
            if not PREFIX.fullmatch(prefix):
                yield (
                    f"move[{index}].{field}: expected a registry in full, with or without folders, "
                    "like docker.io/library or host:5000"
                )
        if f"{move.target}/".startswith(f"{move.origin}/"):
            yield f"move[{index}].to: it is below from, and would be moved again"


def _fits(image: ImageReference, rule: TagRule) -> bool:
    return _any(rule.images, image.repository) and _any(rule.tags, image.version)


def _any(globs: tuple[str, ...], text: str) -> bool:
    return fits_any(text, globs)


def _offender(rules: ImageRules, policy: str, why: str) -> Offender:
    return Offender(policy, why, "refused" if rules.offenders == "Refuse" else "warned")
