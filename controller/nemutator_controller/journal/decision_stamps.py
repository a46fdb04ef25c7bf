"""Decisions and the stamps that admission leaves on pods: which belong together."""

from dataclasses import replace

from nemutator_controller.cluster.owners import owner_of
from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import (
    LONGEST_ID,
    MOST_EDITS,
    JournalEntry,
    Known,
    PodStamp,
)
from nemutator_controller.mutations.decisions import Decision, Subject
from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.mutations.stamps import Stamp, stamp_of


def stamp_on(live: LiveObject) -> Stamp | None:
    """The stamp of the object, when it is one that we could have written."""
    stamp = stamp_of(live.document, live.subject.kind)
    if stamp is None or not 0 < len(stamp.id) <= LONGEST_ID:
        return None
    return None if len(stamp.edits or ()) > MOST_EDITS else stamp


def concerns(entry: JournalEntry, live: LiveObject) -> bool:
    """Whether the journal's decision is about this object: a stamp can be copied to another pod."""
    return is_about(entry.decision, live.subject)


def is_about(decision: Decision, found: Subject) -> bool:
    subject = decision.subject
    if (subject.kind, subject.namespace) != (found.kind, found.namespace):
        return False
    if subject.name:
        return subject.name == found.name and subject.uid in ("", found.uid)
    return found.name.startswith(subject.generate_name)


def known_from(stamp: PodStamp, entry: JournalEntry | None) -> Known:
    """What the journal, which has *entry* under the stamp's id, knows of the stamp."""
    if entry is None:
        return "unknown"
    if entry.state != "answered":
        return "known"
    return "observed" if is_about(entry.decision, stamp.subject) else "foreign"


def decision_from(stamp: Stamp, live: LiveObject) -> Decision | None:
    """The decision as the stamp alone has it; None when there was no room for its edits."""
    if stamp.edits is None:
        return None
    subject = live.subject
    kind, name = owner_of(live.document)
    if TEMPLATES.get(subject.kind):
        # What holds for a workload holds for its pods.
        kind, name = subject.kind, subject.name
    return Decision(
        id=stamp.id,
        at=0.0,
        request_uid="",
        operation="CREATE",
        mode="apply",
        subject=replace(subject, owner_kind=kind, owner_name=name),
        edits=stamp.edits,
    )


def about(decision: Decision, subject: Subject) -> Decision:
    """*decision* with the name that its object has been given since."""
    known = replace(decision.subject, name=subject.name, uid=subject.uid)
    return replace(decision, subject=known)
