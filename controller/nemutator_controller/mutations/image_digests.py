"""Which digest the tag of an image names, as far as it is known: the port of the verb `image`."""

from dataclasses import dataclass
from typing import Literal, Protocol

Unpinned = Literal["awaited", "unread", "off"]
"""Why an image keeps its tag: it is being looked up, its registry does not tell, or nobody is asked."""


@dataclass(frozen=True, slots=True)
class NoDigest:
    reason: Unpinned
    why: str
    """For who creates the pod."""


class ImageDigests(Protocol):
    """Answers from memory."""

    def digest(self, image: str) -> str | NoDigest:
        """Of an image that is named in full, with its tag."""
        ...


@dataclass(frozen=True, slots=True)
class WithoutDigests:
    """The `ImageDigests` where none is known."""

    nothing: NoDigest

    def digest(self, image: str) -> NoDigest:
        return self.nothing


NO_DIGESTS = WithoutDigests(NoDigest("off", "digests are looked up in a cluster"))
