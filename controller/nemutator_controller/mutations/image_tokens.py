"""Images get the versions that the token store has for them: `nemu_image_<repository>`.

Such a token is no placeholder in the pod: it is looked up by the image's own name, as its author has
written it, in full, or as Docker shortens it. Its value is a tag, or another image.
"""

import re
from collections.abc import Iterator

from nemutator_controller.mutations.chosen_containers import chosen
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.image import VERB, replace_image
from nemutator_controller.mutations.image_references import (
    HUB,
    TAG,
    ImageReference,
    ImageReferenceError,
    parse_image,
)
from nemutator_controller.mutations.known_tokens import (
    POLICY,
    PREFIX,
    KnownTokens,
    NoValueError,
    Unresolved,
    value_of,
)

KEY = f"{PREFIX}image_"

_OFFICIAL = "library/"
_IMAGES = re.compile(rb'"image"\s*:\s*"([^"\\]{1,1024})"')


def replace_images(draft: Draft, tokens: KnownTokens) -> list[Unresolved]:
    """The result is those that stay although the store has a token for them."""
    unresolved: list[Unresolved] = []
    for path, container in chosen(draft, ("*",)):
        written = container.get(VERB)
        key = _key_of(written, tokens) if isinstance(written, str) else None
        if key is None or not isinstance(written, str):
            continue
        before = parse_image(written)
        try:
            after = _image_by(before, value_of(tokens, key, bad_image))
        except NoValueError as error:
            unresolved.append(error.at(path / VERB, key))
            continue
        if after != before:
            author = Author(VERB, POLICY, tokens.source(key))
            replace_image(draft, path, written, str(after), author)
    return unresolved


def may_have_tokens(pod: bytes, tokens: KnownTokens) -> bool:
    """Whether an image that *pod* names, as it was sent, has a token: it need not be decoded for that."""
    return bool(tokens.values) and any(
        _key_of(found[1].decode(errors="replace"), tokens) is not None
        for found in _IMAGES.finditer(pod)
    )


def bad_image(text: str) -> str:
    """What was expected in the place of *text*; empty: it is a tag or an image."""
    if TAG.fullmatch(text):
        return ""
    try:
        parse_image(text)
    except ImageReferenceError:
        return "a tag like 20.04, or an image like host:5000/ubuntu:20.04"
    return ""


def _image_by(before: ImageReference, value: str) -> ImageReference:
    if not TAG.fullmatch(value):
        return parse_image(value)
    if before.digest:
        raise NoValueError("unfit", "the image is pinned by its digest")
    return before.tagged(value)


def _key_of(written: str, tokens: KnownTokens) -> str | None:
    """The first token for the image; None: there is none, or it cannot be read."""
    try:
        image = parse_image(written)
    except ImageReferenceError:
        return None
    keys = (f"{KEY}{name}" for name in _names(written, image))
    return next((key for key in keys if key in tokens.values), None)


def _names(written: str, image: ImageReference) -> Iterator[str]:
    before_digest = written.partition("@")[0]
    folders, slash, last = before_digest.rpartition("/")
    yield f"{folders}{slash}{last.partition(':')[0]}"
    yield image.repository
    if image.registry == HUB:
        yield image.path
        yield image.path.removeprefix(_OFFICIAL)
