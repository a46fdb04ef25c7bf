"""The documents of a registry: manifests, lists of manifests, configurations; of Docker and of OCI.

They come from outside, so what is not needed is not decoded, and what is has bounds.
"""

import hashlib
from dataclasses import dataclass
from typing import Annotated, TypeVar

import msgspec

from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.mutations.image_commands import ImageCommand

T = TypeVar("T")

MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
"""What we can read; the `Accept` of a request."""

LARGEST_DOCUMENT = 4 << 20
"""Bytes: what the OCI distribution specification asks registries to take for a manifest."""

MOST_PLATFORMS = 8
"""Of one image, among those that our agents run on."""

ARCHITECTURES = frozenset({"amd64", "arm64"})

MOST_WORDS = 256
LONGEST_COMMAND = 16 << 10
"""Characters of all words of a command: it becomes a part of the pod, in etcd."""


@dataclass(frozen=True, slots=True)
class FoundImage:
    command: ImageCommand
    digest: str
    """Of the manifest, which is another as soon as anything of the image is."""


class Platform(msgspec.Struct, frozen=True):
    architecture: str = ""
    os: str = ""


# It becomes a part of an address.
_Digest = Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}\\Z")]


class Descriptor(msgspec.Struct, frozen=True):
    digest: _Digest
    platform: Platform | None = None


class ImageManifest(msgspec.Struct, frozen=True, rename="camel"):
    """An image, or a list of images by platform: either `config` or `manifests` is there."""

    schema_version: int = 0
    config: Descriptor | None = None
    manifests: tuple[Descriptor, ...] | None = None


class _Started(msgspec.Struct, frozen=True, rename="pascal"):
    entrypoint: tuple[str, ...] | None = None
    cmd: tuple[str, ...] | None = None


class _Configuration(msgspec.Struct, frozen=True):
    config: _Started | None = None


class _Token(msgspec.Struct, frozen=True):
    token: str = ""
    access_token: str = ""


def digest_of(document: bytes) -> str:
    return f"sha256:{hashlib.sha256(document).hexdigest()}"


def check_digest(document: bytes, digest: str) -> None:
    """Raises ImageUnreadableError."""
    if digest_of(document) != digest:
        raise ImageUnreadableError("digest", "the registry's answer is not what its digest names")


def parse_manifest(document: bytes) -> ImageManifest:
    """Raises ImageUnreadableError."""
    manifest = _decoded(document, ImageManifest, "a manifest")
    if manifest.schema_version == 1:
        raise ImageUnreadableError("invalid", "its manifest has the old schema 1: push it again")
    # One that is both would be one image for us and another for a container runtime.
    if manifest.schema_version != 2 or (manifest.config is None) == (manifest.manifests is None):
        raise ImageUnreadableError("invalid", "the registry's answer is no manifest of an image")
    return manifest


def images_in(manifests: tuple[Descriptor, ...]) -> list[str]:
    """The digests of a list's images for machines that agents run on. Raises ImageUnreadableError."""
    ours = [
        each.digest
        for each in manifests
        if each.platform is not None
        and each.platform.os == "linux"
        and each.platform.architecture in ARCHITECTURES
    ]
    if not ours:
        raise ImageUnreadableError("invalid", "it has no image for Linux on amd64 or arm64")
    if len(ours) > MOST_PLATFORMS:
        raise ImageUnreadableError("too_large", f"it has more than {MOST_PLATFORMS} such images")
    return ours


def parse_command(document: bytes) -> ImageCommand:
    """From an image's configuration. Raises ImageUnreadableError."""
    started = _decoded(document, _Configuration, "a configuration").config or _Started()
    command = ImageCommand(started.entrypoint or (), started.cmd or ())
    words = command.entrypoint + command.arguments
    if len(words) > MOST_WORDS or sum(map(len, words)) > LONGEST_COMMAND:
        raise ImageUnreadableError("too_large", "its command is too long to be put into a pod")
    if any("\0" in word for word in words):
        raise ImageUnreadableError("invalid", "its command has a zero byte")
    return command


def parse_token(document: bytes) -> str:
    """Raises ImageUnreadableError."""
    found = _decoded(document, _Token, "a token")
    token = found.token or found.access_token
    if not token or not token.isascii() or not token.isprintable():
        raise ImageUnreadableError("invalid", "the registry's answer has no token")
    return token


def _decoded(document: bytes, shape: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(document, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # What it is instead is not shown: it is a stranger's.
        raise ImageUnreadableError("invalid", f"the registry's answer is not {what}") from None


def the_one(commands: list[ImageCommand]) -> ImageCommand:
    """What images of all platforms start. Raises ImageUnreadableError where they disagree."""
    first, *others = commands
    if any(other != first for other in others):
        raise ImageUnreadableError("differs", "it starts other commands on other architectures")
    return first
