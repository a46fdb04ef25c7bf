"""Names of images as pods write them: `nginx`, `registry.example:5000/shop/web:1.2@sha256:…`.

What is left out is what container runtimes add: Docker Hub, its `library`, the tag `latest`.
"""

import re
from dataclasses import dataclass

from nemutator_common.admission_snapshots import LONGEST_IMAGE_NAME

from nemutator_controller.images.failures import ImageUnreadableError

DOCKER_HUB = "docker.io"

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_REGISTRY = re.compile(rf"{_LABEL}(?:\.{_LABEL})*(?::[0-9]{{1,5}})?")
_REPOSITORY = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+|/)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ImageName:
    registry: str
    """Host, with a port where the name has one."""
    repository: str
    tag: str
    digest: str
    """Empty: the tag says which."""

    @property
    def version(self) -> str:
        """What a registry is asked for: a digest wins over a tag, as for container runtimes."""
        return self.digest or self.tag


def parse_image(name: str) -> ImageName:
    """Raises ImageUnreadableError."""
    if len(name) > LONGEST_IMAGE_NAME:
        raise ImageUnreadableError("name", f"it has more than {LONGEST_IMAGE_NAME} characters")
    rest, _, digest = name.partition("@")
    first, slash, path = rest.partition("/")
    is_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    registry, path = (first, path) if is_registry else (DOCKER_HUB, rest)
    repository, _, tag = path.partition(":")
    if registry in ("index.docker.io", "registry-1.docker.io"):
        registry = DOCKER_HUB
    if registry == DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    tag = tag or ("" if ":" in path else "latest")
    sound = (
        _REGISTRY.fullmatch(registry)
        and _REPOSITORY.fullmatch(repository)
        and _TAG.fullmatch(tag)
        and ("@" not in name or _DIGEST.fullmatch(digest))
    )
    if not sound:
        raise ImageUnreadableError("name", "this is not the name of an image")
    return ImageName(registry.lower(), repository, tag, digest)
