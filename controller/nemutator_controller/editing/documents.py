"""Policies and previews as the API shows them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.editing.previews import PolicyPreview, PreviewedObject
from nemutator_controller.editing.written_policies import document_of, policy_text
from nemutator_controller.policies.model import PolicyError, policy_of

Json = dict[str, Any]

Outcome = Literal["created", "changed", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPolicy:
    name: str
    spec: Any = field(repr=False)
    version: str
    """Changes whenever the policy does."""
    condition: str = ""
    """What the brain has said of it; empty where that is not stored."""


def listed(policies: Iterable[StoredPolicy]) -> Json:
    items = [_item(each) for each in sorted(policies, key=lambda each: each.name)]
    return {"apiVersion": names.API_VERSION, "kind": "PolicyList", "items": items}


def opened(stored: StoredPolicy) -> Json:
    """One policy, as it is listed, and as the YAML that a person edits."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "OpenedPolicy",
        **_item(stored),
        "text": policy_text(stored.name, stored.spec),
    }


def saved(name: str, outcome: Outcome) -> Json:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "PolicySaved",
        "name": name,
        "outcome": outcome,
    }


def previewed(found: PolicyPreview, *, mode: str, more: bool) -> Json:
    """*more*: there are objects that were not read."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "PolicyPreview",
        "mode": mode,
        "objects": found.objects,
        "more": more,
        "changed": found.changed,
        "items": [_changed(each) for each in found.items],
    }


def _item(stored: StoredPolicy) -> Json:
    item = {
        "name": stored.name,
        "version": stored.version,
        "condition": stored.condition,
        "document": document_of(stored.name, stored.spec),
    }
    try:
        policy = policy_of(stored.name, stored.spec)
    except PolicyError as error:
        return item | {"mode": "", "apply_to": "", "verbs": [], "fault": "; ".join(error.faults)}
    verbs = sorted({each.verb for each in (*policy.first, *policy.actions)})
    spec = policy.spec
    return item | {"mode": spec.mode, "apply_to": spec.apply_to, "verbs": verbs, "fault": ""}


def _changed(one: PreviewedObject) -> Json:
    subject = one.subject
    return {
        "object": {"kind": subject.kind, "namespace": subject.namespace, "name": subject.name},
        "edits": [msgspec.to_builtins(edit) for edit in one.edits],
        "refused": one.refused,
        "warnings": list(one.warnings),
    }
