"""What the journal keeps: decisions as they arrived, their states, and each try to take one back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Decision, Maybe, Subject

LARGEST_DECISION = 256 << 10
"""Bytes of one decision as JSON. An API server stores objects of up to 1.5 MiB, and a decision changes
a small part of one."""

MOST_EDITS = 512
LONGEST_ID = 64

State = Literal["answered", "observed", "reversed", "partly", "conflict"]
"""answered: admission has responded so, which does not prove that the object was stored. observed: an
object with our values was seen. The others say how taking it back went."""

Result = Literal["reversed", "already", "kept", "conflict", "left", "refused"]
"""The result of one edit. already: the field had its old value. kept: it is another policy's than the one
that was asked for. conflict: somebody else has changed it since. left: it needs a new pod, which was not
allowed. refused: the API server or the disk refused the write."""

Known = Literal["observed", "known", "foreign", "unknown"]
"""What the journal knows of a stamp that was seen. unknown: it does not have its decision (yet)."""


class DecisionError(ValueError):
    """The record is not a decision; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """A decision in the journal."""

    decision: Decision
    state: State
    writer: str
    """What decided: the name of an admission pod, or `brain` outside of a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """Which of the journal's decisions are asked for."""

    policy: str = ""
    workload: tuple[str, str] = ("", "")
    """Kind and name of what makes the pods, or of the object itself."""
    since: float = 0.0
    until: float = float("inf")
    standing: bool = False
    """Only those that have changed something, and are not wholly taken back."""

    def takes(self, entry: JournalEntry) -> bool:
        decision, subject = entry.decision, entry.decision.subject
        if self.standing and (decision.mode != "apply" or entry.state == "reversed"):
            return False
        if self.workload != ("", "") and self.workload not in (
            (subject.owner_kind, subject.owner_name),
            (subject.kind, subject.name),
        ):
            return False
        if self.policy and all(edit.policy != self.policy for edit in decision.edits):
            return False
        return self.since <= decision.at < self.until


EVERYTHING = Narrowing()


@dataclass(frozen=True, slots=True)
class StampedPod:
    """A pod as a watch shows it, with the text of the annotation that our stamp has."""

    subject: Subject
    stamp: str


@dataclass(frozen=True, slots=True)
class PodStamp:
    """A pod that carries the stamp of *decision*."""

    decision: str
    subject: Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOutcome:
    """The outcome of taking one edit back."""

    path: str
    live: Maybe
    """The value that was found."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTombstone:
    """A field that stays taken back, until the policy or the workload is another one."""

    tombstone: Tombstone
    at: float
    decision: str
    """The mutation that was taken back."""
    policy: str = ""
    revision: str = ""
    """Of the policy, when it was taken back; empty: there was no such policy."""
    owner_uid: str = ""
    """Of the workload; empty: it could not be seen."""


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
    """The object as people write it: `Pod team/web-1`, or with the beginning of a generated name."""
    name = subject.name or f"{subject.generate_name}…"
    where = f"{subject.namespace}/" if subject.namespace else ""
    return f"{subject.kind} {where}{name}"
