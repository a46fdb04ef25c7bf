"""The journal as the API shows it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.manifests import Applied
from nemutator_controller.journal.records import JournalEntry, KeptTombstone, Reversal
from nemutator_controller.journal.reversal_steps import ReversalStep
from nemutator_controller.journal.rollback_plans import (
    MADE_ANEW,
    NEEDS_NEW_POD,
    NO_OWNER,
    RollbackPlan,
)
from nemutator_controller.mutations.decisions import Subject

Json = dict[str, Any]


def listed(entries: Sequence[JournalEntry]) -> Json:
    items = [_entry(entry) for entry in entries]
    return _document("MutationList") | {"items": items}


def shown(entry: JournalEntry, reversals: Sequence[Reversal]) -> Json:
    return _document("Mutation") | {
        **_entry(entry),
        "reversals": [msgspec.to_builtins(reversal) for reversal in reversals],
    }


def planned(plan: RollbackPlan, *, evict: bool) -> Json:
    """What a person reads before confirming it."""
    return _document("RollbackPlan") | {
        "id": plan.decision.id,
        "object": _object(plan.live.subject),
        "evict": evict and bool(plan.by("new pod")) and plan.owner is not None,
        "steps": [
            {
                "path": step.edit.path,
                "live": step.live,
                "before": step.edit.before,
                "after": step.edit.after,
                "verdict": step.verdict,
                "way": step.way,
                "what": _what(step, evict=evict, owned=plan.owner is not None),
            }
            for step in plan.steps
        ],
    }


def taken_back(reversal: Reversal, subject: Subject) -> Json:
    return _document("Rollback") | {
        "id": reversal.decision,
        "object": _object(subject),
        "state": reversal.state,
        "evicted": reversal.evicted,
        "outcomes": [msgspec.to_builtins(outcome) for outcome in reversal.outcomes],
    }


def applied(result: Applied) -> Json:
    return _document("Applied") | {
        "object": _object(result.subject),
        "outcome": result.outcome,
        "id": result.decision,
        "edits": [msgspec.to_builtins(edit) for edit in result.edits],
        "previewed": [msgspec.to_builtins(edit) for edit in result.previewed],
        "warnings": list(result.warnings),
    }


def tombstones(kept: Sequence[KeptTombstone]) -> Json:
    """What stays taken back, and since when."""
    items = [
        {
            "namespace": each.tombstone.namespace,
            "kind": each.tombstone.owner_kind,
            "name": each.tombstone.owner_name,
            "path": each.tombstone.path,
            "at": each.at,
            "mutation": each.decision,
            "policy": each.policy,
        }
        for each in kept
    ]
    return _document("TombstoneList") | {"items": items}


def kept(objects: Sequence[LiveObject], *, whole: bool) -> Json:
    """Manifests by name; *whole*: with their content."""
    items = [
        {**_object(live.subject), "version": live.version}
        | ({"manifest": live.document} if whole else {})
        for live in objects
    ]
    return _document("ObjectList") | {"items": items}


def deleted(subject: Subject) -> Json:
    return _document("Deleted") | {"object": _object(subject)}


def _document(kind: str) -> Json:
    return {"apiVersion": names.API_VERSION, "kind": kind}


def _entry(entry: JournalEntry) -> Json:
    decision: Json = msgspec.to_builtins(entry.decision)
    return {**decision, "state": entry.state, "writer": entry.writer}


def _object(subject: Subject) -> Json:
    return {"kind": subject.kind, "namespace": subject.namespace, "name": subject.name}


def _what(step: ReversalStep, *, evict: bool, owned: bool) -> str:
    if step.verdict == "already":
        return "has its old value already"
    if step.verdict in ("conflict", "kept"):
        return f"stays as it is: {step.why}"
    if step.way != "new pod":
        what = "gets its old value back" if step.edit.before else "is removed"
        return f"{what} (by a resize)" if step.way == "resize" else what
    if not owned:
        return f"stays: {NO_OWNER}"
    return MADE_ANEW if evict else f"stays: {NEEDS_NEW_POD}"
