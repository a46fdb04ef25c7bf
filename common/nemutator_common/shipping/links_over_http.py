"""What is asked of the brain over HTTP, a class for each kind of question."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from nemutator_common.admission_snapshots import IMAGES_PATH, ImageQuestions
from nemutator_common.shipping.brain_http import ANSWER_S, BrainOverHttp, BrainResponse
from nemutator_common.shipping.links import LinkUnavailableError
from nemutator_common.windows import PODS_PATH, WindowCandidates, WindowPods
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    REPORTS_PATH,
    STREAMS_PATH,
    Ack,
    ProfileOutcome,
    ProfileRequest,
    ProfileRequests,
    Stream,
)

LARGEST_DOCUMENT = 32 << 20
"""The limit of a snapshot for admission, which is advice for about 100 000 containers."""

LONGEST_WAIT_S = 30.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReportsOverHttp:
    """A `Link` for `wire.Batch`es."""

    brain: BrainOverHttp

    async def position(self, *, writer: str, epoch: str) -> Ack:
        query = urlencode({"node": writer, "epoch": epoch})
        return _decoded(await self.brain.call("GET", f"{REPORTS_PATH}?{query}"), Ack)

    async def send(self, batch: bytes) -> Ack:
        return _decoded(await self.brain.call("POST", REPORTS_PATH, batch), Ack)


@dataclass(frozen=True, slots=True)
class StreamOverHttp:
    """A `Link` for the `wire.StreamBatch`es of one *stream*."""

    brain: BrainOverHttp
    stream: Stream

    async def position(self, *, writer: str, epoch: str) -> Ack:
        query = urlencode({"writer": writer, "epoch": epoch})
        return _decoded(await self.brain.call("GET", f"{STREAMS_PATH}{self.stream}?{query}"), Ack)

    async def send(self, batch: bytes) -> Ack:
        return _decoded(await self.brain.call("POST", f"{STREAMS_PATH}{self.stream}", batch), Ack)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilesOverHttp:
    """Gets the brain's profile requests for *node*, and reports their outcomes."""

    brain: BrainOverHttp
    node: str

    async def requests(self, wait_s: float) -> Sequence[ProfileRequest]:
        """Requests for the node when there are any, or none after *wait_s*. Raises LinkError."""
        wait_s = min(wait_s, LONGEST_WAIT_S)
        query = urlencode({"node": self.node, "wait_s": f"{wait_s:g}"})
        answer = await self.brain.call(
            "GET", f"{PROFILE_REQUESTS_PATH}?{query}", deadline_s=wait_s + ANSWER_S
        )
        return _decoded(answer, ProfileRequests).requests

    async def report(self, outcome: ProfileOutcome) -> None:
        """Returns when *outcome* is stored; sending it again is harmless. Raises LinkError."""
        await self.brain.call("POST", PROFILES_PATH, msgspec.json.encode(outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPodsOverHttp:
    """Asks which pods of *node* quiet windows may look at."""

    brain: BrainOverHttp
    node: str

    async def chosen(self, uids: Sequence[str]) -> Sequence[str]:
        """Those of *uids* that may be. Raises LinkError."""
        asked = WindowCandidates(self.node, tuple(uids))
        answer = await self.brain.call("POST", PODS_PATH, msgspec.json.encode(asked))
        return _decoded(answer, WindowPods).uids


@dataclass(frozen=True, slots=True)
class ImageQuestionsOverHttp:
    """Has the brain read images."""

    brain: BrainOverHttp

    async def ask(self, images: tuple[str, ...]) -> None:
        """Raises LinkError."""
        await self.brain.call("POST", IMAGES_PATH, msgspec.json.encode(ImageQuestions(images)))


@dataclass(frozen=True, slots=True)
class DocumentsOverHttp:
    """Polls snapshots of the brain, which are sent only when they have changed."""

    brain: BrainOverHttp
    _known: dict[str, tuple[str, bytes]] = field(init=False, default_factory=dict)

    async def get(self, path: str) -> bytes:
        """The document at *path*, of which there are few. Raises LinkError."""
        path = quote(path, safe="/?=&")
        known = self._known.get(path)
        answer = await self.brain.call(
            "GET",
            path,
            headers={"If-None-Match": known[0]} if known else None,
            most_bytes=LARGEST_DOCUMENT,
        )
        if answer.status == 304:
            if known is None:
                raise LinkUnavailableError(
                    "invalid", "the brain says that a document is unchanged which we do not have"
                )
            return known[1]
        if answer.etag:
            self._known[path] = (answer.etag, answer.body)
        return answer.body


def _decoded(answer: BrainResponse, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        what = f"the brain's answer is not {shape.__name__}"
        raise LinkUnavailableError("invalid", what) from None
