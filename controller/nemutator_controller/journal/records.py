"""What the journal keeps: decisions as they came, their state, and each try to take one back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from nemutator_controller.mutations.decisions import Decision, Maybe, Subject

LARGEST_DECISION = 256 << 10
"""Bytes of one decision as JSON. The largest object that an API server takes is 1.5 MiB, and what
is changed in one is a small part of it."""

MOST_EDITS = 512
LONGEST_ID = 64

State = Literal["answered", "observed", "reversed", "partly", "conflict"]
"""answered: admission has answered so, which is no proof that the object was stored. observed: an object
with our values was seen. The others say how taking it back went."""

Result = Literal["reversed", "already", "conflict", "left", "refused"]
"""Of one edit. already: it had its old value. conflict: somebody else has changed it since. left:
it needs what was not allowed, a new pod. refused: the API server, or the disk, refused the write."""


Known = Literal["observed", "known", "foreign", "unknown"]
"""How a stamp that was seen fits the journal. unknown: there is no such decision (yet)."""


class DecisionError(ValueError):
    """The record is not a decision; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """A decision in the journal."""

    decision: Decision
    state: State
    writer: str
    """Who decided: the name of an admission pod, or of the brain itself outside of a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StampedPod:
    """A pod as a watch shows it, with what stands where our stamp is."""

    namespace: str
    name: str
    uid: str
    stamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStamp:
    """A pod that carries the stamp of *decision*."""

    decision: str
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOutcome:
    """What became of one edit."""

    path: str
    live: Maybe
    """As it was found."""
    result: Result
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """One try to take a decision back."""

    id: str
    decision: str
    at: float
    state: State
    outcomes: tuple[EditOutcome, ...]
    evicted: bool = False


def decode(record: Mapping[str, object]) -> Decision:
    """The decision in a record of the stream; a `DecisionError` says what is wrong with it."""
    try:
        decision = msgspec.convert(record, Decision)
        size = len(msgspec.json.encode(record))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise DecisionError(str(error)[:300]) from error
    if not 0 < len(decision.id) <= LONGEST_ID or not decision.id.isprintable():
        raise DecisionError(f"an id of 1 to {LONGEST_ID} printable characters is needed")
    if len(decision.edits) > MOST_EDITS:
        raise DecisionError(f"it has more than {MOST_EDITS} edits")
    if size > LARGEST_DECISION:
        raise DecisionError(f"it is larger than {LARGEST_DECISION} bytes")
    return decision


def names_of(subject: Subject) -> str:
    """The object as people write it: `Pod team/web-1`, or with the beginning of its name."""
    name = subject.name or f"{subject.generate_name}…"
    where = f"{subject.namespace}/" if subject.namespace else ""
    return f"{subject.kind} {where}{name}"
