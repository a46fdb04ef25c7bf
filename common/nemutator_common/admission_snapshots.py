"""What the brain gives to admission, which answers pods from it: fetched whole, and again only when it has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ADVICE_PATH = "/uplink/v1/advice"
"""GET returns an `AdviceSnapshot` for admission; its ETag changes when a decision would."""

TOMBSTONES_PATH = "/uplink/v1/tombstones"
"""GET returns a `TombstoneSnapshot` for admission, with an ETag. A client that asks again has
applied the snapshot that it got before."""

TOKENS_PATH = "/uplink/v1/tokens"
"""GET returns a `TokenSnapshot` for admission, with an ETag."""

IMAGES_PATH = "/uplink/v1/images"
"""GET returns an `ImageSnapshot` for admission, with an ETag. POST of an `ImageQuestions` has the brain
read these images, too; its answer is empty."""

SEASONS_PATH = "/uplink/v1/seasons"
"""GET returns a `SeasonSnapshot` for admission, with an ETag."""

TALKERS_PATH = "/uplink/v1/talkers"
"""GET returns a `TalkerSnapshot` for admission, with an ETag."""

UNWANTED_PATH = "/uplink/v1/unwanted-labels"
"""GET returns an `UnwantedSnapshot` for admission, with an ETag: at once where the caller has another one, and else
when there is another one, or after some seconds."""

MOST_UNWANTING = 10_000
"""Workloads of which admission is told what they do not want."""

MOST_TALKING = 1_000
"""Workloads whose peers admission is told of."""
MOST_TALKERS = 4
"""Peers of each."""

SIZING_PREFIX = "SizingPolicy/"
"""Before the names of policies that admission makes of SizingPolicies, which MutationPolicies may have as well."""

MOST_IMAGE_QUESTIONS = 100
LONGEST_IMAGE_NAME = 512
"""Characters; a repository may have 255, a tag 128 and a digest 71."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Amounts as Kubernetes writes them; None means not set, or not known."""

    cpu: str | None = None
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedContainer:
    """What one container of a workload should request, or why there is no advice yet."""

    namespace: str
    owner_kind: str
    owner: str
    container: str
    strategy: str
    state: str
    """firm, provisional, not_yet, or a newer brain's word; only firm advice changes a pod."""
    reason: str
    points: int
    requests: Amounts
    limits: Amounts


@dataclass(frozen=True, slots=True)
class AdviceSnapshot:
    items: tuple[RecommendedContainer, ...]


IN_TEMPLATE = "template."
"""Before the path of a field of the workload's template: what is taken back of it is not taken back of its pods."""


@dataclass(frozen=True, slots=True, order=True)
class Tombstone:
    """A field of a workload's pods, or of its template, that admission must not change: its change was rolled back."""

    namespace: str
    owner_kind: str
    owner_name: str
    path: str


@dataclass(frozen=True, slots=True)
class TombstoneSnapshot:
    tombstones: tuple[Tombstone, ...]


@dataclass(frozen=True, slots=True)
class TokenSnapshot:
    source: str
    """Where tokens are kept; empty: there is no token store."""
    read: bool
    """Whether it has been read since the brain started."""
    tokens: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SeasonSnapshot:
    in_season: tuple[str, ...]
    """Names of the MutationPolicies whose seasons it is, and of SizingPolicies, behind `SizingPolicy/`. A policy with
    seasons that is not named is not followed."""
    resizes_held: bool = False
    """Whether a SeasonPolicy holds resizes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkingPeer:
    """Pods that others exchange much with."""

    namespace: str
    labels: Mapping[str, str]
    """That all of them have, and by which they are found."""
    quarters: int
    """How much it is with each of them, from 1 to 4, beside the one with which it is most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkingWorkload:
    namespace: str
    owner_kind: str
    owner: str
    peers: tuple[TalkingPeer, ...]


@dataclass(frozen=True, slots=True)
class TalkerSnapshot:
    items: tuple[TalkingWorkload, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnwantedLabels:
    """A workload whose selector wants pods without some labels, and makes others in their place without end."""

    namespace: str
    owner_kind: str
    owner: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnwantedSnapshot:
    items: tuple[UnwantedLabels, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadImage:
    """What an image starts, from its configuration in its registry."""

    image: str
    """As a pod names it."""
    entrypoint: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    problem: str = ""
    """Why it is not known; empty: it is."""


@dataclass(frozen=True, slots=True)
class ImageSnapshot:
    reads: bool
    """Whether the brain reads images at all."""
    images: tuple[ReadImage, ...] = ()
    digests: dict[str, str] = field(default_factory=dict)
    """By image with a tag, the digest that the tag names."""
    full: bool = False
    """Whether no other images are read, because too many are in use."""


@dataclass(frozen=True, slots=True)
class ImageQuestions:
    images: tuple[str, ...]
