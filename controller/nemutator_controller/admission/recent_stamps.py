"""The stamps of pods that are still being created, for when another webhook strips them.

The server asks again about a pod that another webhook has changed, and nothing in its second request
says that it is one: without our stamp, shares would be taken of our own values. So what was answered in
the last half minute is remembered, and a pod that still has our values is known by them.
"""

from collections import deque
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec

from nemutator_controller.admission.ports import StampLink
from nemutator_controller.admission.stamp_messages import (
    KeptStamp,
    TakenStamp,
    decode_message,
    encode_message,
)
from nemutator_controller.mutations.decisions import Edit, Maybe, Subject
from nemutator_controller.mutations.edits import same
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import Path, PathError, value_at
from nemutator_controller.mutations.stamps import PATH, Stamp

KEPT_S = 30.0
"""The longest that the server waits for one other webhook."""

MOST = 4_096
"""Stamps in memory. A cluster that makes a hundred pods a second needs fewer, and forgers get no more."""

MOST_KINDS = 8
"""Different changes of pods that have one origin: each further pod is compared with each of them."""


FEW_IDS = 64
"""As many stamps of one kind are in a list."""

_A_LABEL = "metadata.labels["
"""Begins the paths to single labels."""

Place = Literal["ids", "heard", "given_back"]


KeptEdits = tuple[Edit, ...] | bytes
"""Edits, or their JSON: most are never looked at again."""

_edits = msgspec.json.Decoder(tuple[Edit, ...])


class Origin(NamedTuple):
    """What both requests for a pod say in the same way; other pods of its workload say it, too."""

    namespace: str
    name: str
    generate_name: str
    owner_kind: str
    owner_name: str
    user: str
    dry_run: bool
    """What a dry run has done is in no journal, so its stamp is for none but dry runs."""


def origin_of(subject: Subject, *, user: str, dry_run: bool) -> Origin:
    return Origin(
        subject.namespace,
        subject.name,
        subject.generate_name,
        subject.owner_kind,
        subject.owner_name,
        user,
        dry_run,
    )


@dataclass(slots=True, eq=False)
class _Alike:
    """Pods of one origin that were changed in the same way: one may have the stamp of another."""

    labels: Mapping[str, str]
    """Those that we have not written."""
    written: KeptEdits
    paths: tuple[Path, ...] | None = field(default=None, init=False)
    """Of the edits, once a pod was compared with them: most workloads' pods are alike."""
    # Lists, though their first go first: most are short, and empty ones take a tenth of the memory of a deque. Longer ones become
    # deques: with each stamp that is forgotten, a list of thousands is moved as a whole.
    ids: MutableSequence[str] = field(default_factory=list)
    """Those that we have made ourselves."""
    heard: MutableSequence[str] = field(default_factory=list)
    """Those of the processes that share our port."""
    given_back: MutableSequence[str] = field(default_factory=list)
    """Those that a pod had lost and has again. It may lose them once more, but whoever comes now is most likely
    another pod, which has lost its own."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        self.written = edits_of(self.written)
        return self.written

    def next_id(self) -> str:
        """Of two processes that give one back at the same moment each takes another one: its own oldest, or
        the other's newest."""
        if self.ids:
            first = self.ids[0]
            del self.ids[0]
            return first
        return self.heard.pop() if self.heard else self.given_back.pop()

    @property
    def all_ids(self) -> tuple[MutableSequence[str], ...]:
        return self.ids, self.heard, self.given_back

    def is_shown_by(self, pod: Any, values: dict[Path, Maybe]) -> bool:
        """Whether *pod* has one of our values and all the labels that such a pod came with.

        *values*: what was found in *pod* already, as most changes are of the same few places.
        """
        found = _labels_of(pod)
        for key, text in self.labels.items():
            if found.get(key) != text:
                return False
        if self.paths is None:
            self.paths = tuple(parse_path(edit.path) for edit in self.edits)
        for path, edit in zip(self.paths, self.edits, strict=True):
            value = values.get(path)
            if value is None:
                value = values[path] = value_at(pod, path, "Pod")
            if same(value, edit.after) if value else not edit.after:
                return True
        return False


@dataclass(slots=True)
class RecentStamps:
    link: StampLink | None = None
    """To processes that share our port; None: there are none."""
    _of: dict[Origin, list[_Alike]] = field(default_factory=dict, init=False)
    _order: deque[tuple[float, Origin, _Alike, str]] = field(default_factory=deque, init=False)

    def knows(self, origin: Origin) -> bool:
        return origin in self._of

    def hear(self, now: float) -> None:
        """Learn what the other processes have told by *now*."""
        if self.link is None:
            return
        for content in self.link.heard():
            match decode_message(content):
                case KeptStamp() as kept:
                    origin = Origin(*kept.origin)
                    place: Place = "given_back" if kept.given_back else "heard"
                    self._add(origin, kept.labels, kept.edits, kept.id, now, place)
                case TakenStamp() as taken:
                    self._remove(Origin(*taken.origin), taken.id)
                case None:
                    # Nobody but us may write there: it is of another version.
                    pass

    def kinds(self, origin: Origin) -> Sequence[object]:
        """What was done to pods of *origin* just now, in ways that differ."""
        return self._of.get(origin, ())

    def are_among(self, origin: Origin, kinds: Sequence[object], now: float) -> bool:
        """Whether nothing else than *kinds* was done to pods of *origin*."""
        self._forget(now)
        found = self._of.get(origin)
        if found is None or (len(found) == len(kinds) == 1 and found[0] is kinds[0]):
            return True
        return all(any(each is kind for kind in kinds) for each in found)

    def keep(
        self, origin: Origin, pod: Any, stamp: Stamp, now: float, *, given_back: bool = False
    ) -> None:
        """Remember that *pod*, as it was asked about at *now*, gets *stamp*; *given_back*: once more."""
        if stamp.edits:
            kept = labels_beside(pod, stamp.edits)
            self.keep_alike(origin, kept, stamp.edits, stamp.id, now, given_back=given_back)

    def keep_alike(
        self,
        origin: Origin,
        kept: Mapping[str, str],
        edits: KeptEdits,
        id_: str,
        now: float,
        *,
        given_back: bool = False,
    ) -> None:
        """The same for a pod that has the labels *kept* beside those that *edits* write."""
        self._add(origin, kept, edits, id_, now, "given_back" if given_back else "ids")
        if self.link is not None:
            # Labels that are no text are never compared: the server refuses such a pod.
            texts = {key: str(text) for key, text in kept.items()}
            message = KeptStamp(origin, texts, id_, edits_of(edits), given_back)
            self.link.tell(encode_message(message))

    def _add(
        self,
        origin: Origin,
        kept: Mapping[str, str],
        edits: KeptEdits,
        id_: str,
        now: float,
        place: Place = "ids",
    ) -> None:
        for alike in self._of.get(origin, ()):
            if alike.labels == kept and (alike.written is edits or alike.edits == edits_of(edits)):
                break
        else:
            alike = _Alike(kept, edits)
            self._of.setdefault(origin, []).append(alike)
            del self._of[origin][:-MOST_KINDS]
        ids: MutableSequence[str] = getattr(alike, place)
        ids.append(id_)
        if len(ids) == FEW_IDS:
            setattr(alike, place, deque(ids))
        self._order.append((now, origin, alike, id_))
        self._forget(now)

    def has_lost_one(self, origin: Origin, pod: Any, now: float) -> bool:
        """Whether `take` would give one back."""
        self._forget(now)
        return self._shown_by(pod, self._of.get(origin, ())) is not None

    def take(self, origin: Origin, pod: Any, now: float) -> Stamp | None:
        """The stamp that *pod* has lost, if it has; each is given back once."""
        self._forget(now)
        alike = self._shown_by(pod, self._of.get(origin, ()))
        if alike is None:
            return None
        id_ = alike.next_id()
        self._drop_empty(origin, alike)
        if self.link is not None:
            self.link.tell(encode_message(TakenStamp(origin, id_)))
        return Stamp(id_, alike.edits)

    def _remove(self, origin: Origin, id_: str) -> None:
        for alike in list(self._of.get(origin, ())):
            for ids in alike.all_ids:
                if id_ in ids:
                    ids.remove(id_)
                    self._drop_empty(origin, alike)

    def _shown_by(self, pod: Any, kinds: Sequence[_Alike]) -> _Alike | None:
        try:
            if not kinds or value_at(pod, PATH, "Pod"):
                return None
            values: dict[Path, Maybe] = {}
            for alike in reversed(kinds):
                if alike.is_shown_by(pod, values):
                    return alike
            return None
        except PathError:
            # Not shaped like a pod, which the plan says better.
            return None

    def _forget(self, now: float) -> None:
        while self._order and (len(self._order) > MOST or self._order[0][0] < now - KEPT_S):
            _, origin, alike, id_ = self._order.popleft()
            for ids in alike.all_ids:
                if ids and ids[0] == id_:
                    del ids[0]
                    self._drop_empty(origin, alike)

    def _drop_empty(self, origin: Origin, alike: _Alike) -> None:
        kinds = self._of.get(origin, [])
        if not any(alike.all_ids) and alike in kinds:
            kinds.remove(alike)
            if not kinds:
                del self._of[origin]


def edits_of(kept: KeptEdits) -> tuple[Edit, ...]:
    return _edits.decode(kept) if isinstance(kept, bytes) else kept


def labels_beside(pod: Any, edits: Sequence[Edit]) -> Mapping[str, str]:
    """The labels of *pod* that *edits* do not write."""
    ours = written_labels(edits)
    return {key: text for key, text in _labels_of(pod).items() if key not in ours}


def written_labels(edits: Sequence[Edit]) -> frozenset[str]:
    """Keys of the labels that *edits* write."""
    return frozenset(
        parse_path(edit.path).steps[-1].name for edit in edits if edit.path.startswith(_A_LABEL)
    )


def _labels_of(pod: Any) -> Mapping[str, str]:
    metadata = pod.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return labels if isinstance(labels, dict) else {}
