"""References of images, as container runtimes read them: `ubuntu`, `host:5000/team/app:1.2@sha256:…`.

The grammar is that of distribution's package `reference`. What is left out is filled in as Docker does:
`ubuntu` is `docker.io/library/ubuntu`, and without tag and digest `latest` is meant.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

LONGEST = 1024
"""Characters of a reference. A repository has at most 255, a tag 128."""

LONGEST_REPOSITORY = 255

HUB = "docker.io"
_OLD_HUB = "index.docker.io"
_OFFICIAL = "library/"
LATEST = "latest"

# The first part is a registry when it cannot be a folder of the default one, as in
# https://github.com/distribution/reference/blob/main/normalize.go.
_HOST_PART = r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?"
# Not by a lookahead, which the API server's regular expressions lack: the pattern is in a definition, too.
_HOST_WITH_CAPITALS = r"([A-Za-z0-9][-A-Za-z0-9]*)?[A-Z]([-A-Za-z0-9]*[A-Za-z0-9])?"
_PORT = r":[0-9]{1,5}"
_REGISTRY = (
    rf"(localhost({_PORT})?|{_HOST_PART}(\.{_HOST_PART})+({_PORT})?|{_HOST_PART}{_PORT}"
    # No folder has capitals.
    rf"|{_HOST_WITH_CAPITALS}|\[[0-9a-fA-F:]+\]({_PORT})?)"
)
_FOLDER = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"

PREFIX = re.compile(rf"^{_REGISTRY}(/{_FOLDER})*$")
"""A registry, with or without the beginning of its repositories."""

TAG = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")

REPOSITORY_GLOB = re.compile(r"^[^@]*[/*?][^@:]*$|\[")
"""What may fit a repository in full: each of those has a slash, and neither tag nor digest. Of `[…]` nobody asks what
is in it."""

IMAGE = re.compile(
    rf"((?P<registry>{_REGISTRY})/)?(?P<path>{_FOLDER}(/{_FOLDER})*)"
    r"(:(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(@(?P<digest>[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
)
_IDENTIFIER = re.compile(r"[0-9a-f]{64}")


def glob_faults(globs: Iterable[str]) -> Iterator[str]:
    """Of globs on repositories in full, those that can fit none: each with its place among them."""
    for index, glob in enumerate(globs):
        if not REPOSITORY_GLOB.search(glob):
            yield (
                f"[{index}]: {glob[:80]!r} fits no repository in full, without tag and digest: write it like"
                " docker.io/library/ubuntu or host:5000/*"
            )


class ImageReferenceError(ValueError):
    """The text is no reference of an image."""


@dataclass(frozen=True, slots=True)
class ImageReference:
    registry: str
    path: str
    tag: str = ""
    """Empty: none is written."""
    digest: str = ""

    @property
    def repository(self) -> str:
        """With its registry: what globs are matched against."""
        return f"{self.registry}/{self.path}"

    @property
    def version(self) -> str:
        """The tag that is meant; a digest needs none."""
        return self.tag or ("" if self.digest else LATEST)

    def tagged(self, tag: str) -> "ImageReference":
        return replace(self, tag=tag)

    def moved(self, origin: str, target: str) -> "ImageReference | None":
        """The same below *target*, when it is below the prefix *origin* now."""
        repository = self.repository
        if repository != origin and not repository.startswith(f"{origin}/"):
            return None
        registry, _, path = f"{target}{repository.removeprefix(origin)}".partition("/")
        return replace(self, registry=registry, path=path) if path else None

    def __str__(self) -> str:
        """In full."""
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.repository}{tag}{f'@{self.digest}' if self.digest else ''}"


def parse_image(text: str) -> ImageReference:
    """*text* as a reference, or an `ImageReferenceError`."""
    if len(text) > LONGEST:
        raise ImageReferenceError(f"{text[:40]!r}…: longer than {LONGEST} characters")
    return _parsed(text)


def usual_pull_policy(image: str) -> str:
    """The `imagePullPolicy` that an API server fills in for *image*."""
    try:
        return "Always" if parse_image(image).version == LATEST else "IfNotPresent"
    except ImageReferenceError:
        return "IfNotPresent"


@functools.lru_cache(maxsize=1024)
def _parsed(text: str) -> ImageReference:
    found = IMAGE.fullmatch(text)
    if found is None or _IDENTIFIER.fullmatch(text):
        raise ImageReferenceError(f"{text[:80]!r}: expected registry/repository:tag@digest")
    registry, path = found["registry"] or HUB, found["path"]
    first, slash, _ = path.partition("/")
    if slash and "." in first and not found["registry"]:
        # `my_host.example/a` is a path of nobody's registry: containerd takes its beginning for a host.
        raise ImageReferenceError(
            f"{text[:80]!r}: expected the name of a host before the first slash"
        )
    registry = HUB if registry == _OLD_HUB else registry
    if registry == HUB and "/" not in path:
        path = f"{_OFFICIAL}{path}"
    if len(path) > LONGEST_REPOSITORY:
        raise ImageReferenceError(
            f"{path[:40]!r}…: a repository of more than {LONGEST_REPOSITORY} characters"
        )
    return ImageReference(registry, path, found["tag"] or "", found["digest"] or "")
