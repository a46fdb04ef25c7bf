"""Reviews whose answers are known but for texts in them, and what those texts say of another pod.

Its plan is that of an earlier pod, as `known_plans.py` has it: what may differ is what is not read of such pods, and what their
containers are called and ask for.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nemutator_controller.admission.container_amounts import ContainerAmounts, WrittenAmount
from nemutator_controller.admission.container_names import ContainerNames, are_names
from nemutator_controller.admission.known_plans import Circumstances, PlanKey, are_same
from nemutator_controller.admission.plan_contents import TOKEN_VOLUME
from nemutator_controller.admission.plan_texts import PlanText, PlanTexts
from nemutator_controller.admission.recent_stamps import Origin
from nemutator_controller.admission.review_shapes import ReviewShape
from nemutator_controller.admission.unread_texts import UnreadTexts
from nemutator_controller.cluster.owners import workload
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.resources import Sizing

MOST = 256
"""Reviews in memory, of 16 KiB at most."""

MOST_OF_A_NAMESPACE = 16
"""Each is compared with all of its namespace, which differ in their first bytes mostly."""

MOST_OF_A_PLAN = 8

_Place = tuple[bytes, bool]
"""The namespace, and whether the server has seen that it is opted in."""

_NAMESPACE = b'"namespace":'

_CALLED = re.compile(r"[-a-z0-9.]{1,253}")
"""What pods and workloads are called, and what begins that. It stands in records as it is."""


class AlikePod(NamedTuple):
    uid: str
    """Of the review."""
    key: PlanKey
    origin: Origin
    labels: Mapping[str, Any]
    """But those that the plan writes."""

    @property
    def called(self) -> str:
        origin = self.origin
        return f"{origin.namespace}/{origin.name or f'{origin.generate_name}…'}"


class AskingContainer(NamedTuple):
    """What else than amounts has to do with them."""

    list: str
    name: str
    beside: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AlikeReview:
    """One that was answered, for others of its shape."""

    shape: ReviewShape
    unread: UnreadTexts
    key: PlanKey
    origin: Origin
    owner: tuple[str, str]
    """Kind and name of what controls the pod."""
    labels: Mapping[str, Any]
    written_labels: frozenset[str]
    """Those that the plan writes."""
    containers: Sequence[AskingContainer]
    """In the order of amounts; empty: these are always the same."""
    overhead: Any
    sizing: Sizing | None
    circumstances: Circumstances
    known_of_it: Sequence[object]
    """What these were made of."""
    is_bounded: bool
    texts: PlanTexts
    note: Callable[[str, str], None]
    """Counts and logs what was decided about the pod that is called so, by its id."""

    def pod(self, texts: Sequence[str]) -> AlikePod | None:
        """The one of which these are the *texts*; None: it may have another plan."""
        at, first, key = self.unread, self.origin, self.key
        for index in at.volumes:
            if not texts[index].startswith(TOKEN_VOLUME):
                return None
        labels = dict(self.labels)
        for label, index in at.labels:
            labels[label] = texts[index]
        name, begin = first.name, first.generate_name
        if at.name is not None:
            name = texts[at.name]
        if at.request_name is not None:
            name = texts[at.request_name] or name
        if at.generate_name is not None:
            begin = texts[at.generate_name]
        owner = self._owner(texts, labels)
        if owner is None or not (_is_called(name) and _is_called(begin)):
            return None
        names, amounts = key.names, key.amounts
        if names is not None:
            found = tuple([texts[index] for index in at.names])
            if found != names:
                if not are_names(found):
                    return None
                names = found
        if amounts is not None:
            asked = [each.of(texts) for each in at.amounts]
            amounts = tuple([each for each in asked if each is not None])
            if len(amounts) != len(asked):
                return None
        for label in self.written_labels:
            labels.pop(label, None)
        origin = Origin(first.namespace, name, begin, *owner, first.user, first.dry_run)
        return AlikePod(texts[at.uid], PlanKey(key.shape, names, amounts), origin, labels)

    def _owner(self, texts: Sequence[str], labels: Mapping[str, Any]) -> tuple[str, str] | None:
        """What has made the pod; None: by that it may have another plan."""
        first = self.origin.owner_kind, self.origin.owner_name
        kind, name = self.owner
        if self.unread.owner_name is not None:
            name = texts[self.unread.owner_name]
            if not _CALLED.fullmatch(name):
                return None
        made_by = workload(kind, name, labels) if kind or name else first
        # Where plans are found by the namespace alone, it is enough that a workload has made it.
        is_any = isinstance(self.key.shape[1], str)
        return made_by if (made_by[1] if is_any else made_by == first) else None

    def text(self, key: PlanKey, bounds: ResourceBounds) -> PlanText | None:
        """The plan of a pod that has that *key*; None: it is not known."""
        last = self.texts.last
        if last is not None and last[0] == key[1:] and last[1] is bounds:
            last[2].encode_around()
            return last[2]
        written: Sequence[WrittenAmount] = ()
        copied: Mapping[str, Any] = {}
        if key.amounts is not None:
            amounts = self.texts.amounts
            if amounts is None:
                if key.amounts != self.key.amounts:
                    return None
            else:
                before = self.texts.written
                if before is None or before[0] != key.amounts or before[1] is not bounds:
                    spec = self._spec(key.names, key.amounts)
                    found = amounts.written(spec, key.amounts, self.sizing, bounds)
                    if found is None:
                        return None
                    before = self.texts.written = key.amounts, bounds, *found
                _, _, written, copied = before
        text = self.texts.of(key.names or (), written, copied)
        self.texts.last = None if text is None else (key[1:], bounds, text)
        return text

    def _spec(self, names: ContainerNames | None, amounts: ContainerAmounts) -> Mapping[str, Any]:
        """What of a pod's spec has to do with its *amounts*."""
        spec: dict[str, Any] = {"overhead": self.overhead}
        called = names or [each.name for each in self.containers]
        for name, (requests, limits), each in zip(called, amounts, self.containers, strict=True):
            resources = {"requests": dict(requests), "limits": dict(limits)}
            spec.setdefault(each.list, []).append(
                {**each.beside, "name": name, "resources": resources}
            )
        return spec


def _is_called(text: str) -> bool:
    return not text or _CALLED.fullmatch(text) is not None


class AlikeReviews:
    """Those that hold for what is known of the cluster now."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known_then: Sequence[object] = ()
        self._found_by: dict[_Place, list[AlikeReview]] = {}
        """Who was asked about last comes first."""
        self._learned: dict[object, int] = {}
        """How many have a plan of the same shape."""

    def __len__(self) -> int:
        return sum(map(len, self._found_by.values()))

    def find(
        self, body: bytes, known_now: Sequence[object], *, opted_in: bool
    ) -> tuple[AlikeReview, Sequence[str]] | None:
        """One of whose shape *body* is, and its texts."""
        self._renew(known_now)
        listed = self._found_by.get((_namespace(body), opted_in), ())
        for index, review in enumerate(listed):
            texts = review.shape.texts_of(body)
            if texts is not None:
                if index and isinstance(listed, list):
                    listed.insert(0, listed.pop(index))
                return review, texts
        return None

    def wants(self, key: PlanKey, known_now: Sequence[object]) -> bool:
        """Whether one more review that has a plan of that shape is worth while: pods may differ in what nobody reads, each
        from all others."""
        self._renew(known_now)
        return self._learned.get(key.shape, 0) < MOST_OF_A_PLAN

    def keep(
        self, body: bytes, known_now: Sequence[object], review: AlikeReview, *, opted_in: bool
    ) -> None:
        """*body* is of the shape of *review*."""
        self._renew(known_now)
        shape = review.key.shape
        self._learned[shape] = self._learned.pop(shape, 0) + 1
        listed = self._found_by.setdefault((_namespace(body), opted_in), [])
        listed.insert(0, review)
        del listed[MOST_OF_A_NAMESPACE:]
        while len(self) > self._most:
            oldest = next(iter(self._found_by))
            del self._found_by[oldest]
        while len(self._learned) > self._most:
            del self._learned[next(iter(self._learned))]

    def _renew(self, known_now: Sequence[object]) -> None:
        if not are_same(known_now, self._known_then):
            self._found_by.clear()
            self._learned.clear()
            self._known_then = known_now


def _namespace(body: bytes) -> bytes:
    """Which *body* names first, if any: it is only a place where to look."""
    at = body.find(b'"', body.find(_NAMESPACE) + len(_NAMESPACE)) + 1
    return body[at : body.find(b'"', at)]
