"""Who else has written a field, by the object's `managedFields` (FieldsV1).

The API server notes who sends what before it asks webhooks, so that what admission writes belongs to
nobody there. A manager that has such a field has written it later, perhaps with the very same value.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from nemutator_common import names

from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.paths import FieldStep, ItemStep, Path, Step, item_of, steps_in

RESIZE = "resize"

_CONTAINERS = FieldStep("containers")


def later_owner(
    document: Mapping[str, Any], kind: str, path: Path, *, before: Maybe, since: float
) -> str:
    """The manager that has written the field after the mutation at *since*; empty: there is none.

    *before*: what was there before the mutation. Such a field has had an owner from the start: who sent
    the object, and has not written the field again.
    """
    metadata = document.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(entries, list):
        return ""
    steps = steps_in(kind, path)
    made_at = _seconds(metadata.get("creationTimestamp"))
    since = max(since, made_at or since)
    owners = [
        entry
        for entry in entries
        if isinstance(entry, dict)
        and entry.get("manager") != names.PREFIX
        and _has(entry.get("fieldsV1"), steps, whole=_is_later_apply(entry, since))
    ]
    for owner in owners:
        shared = len(owners) > 1 and owner.get("operation") == "Apply"
        if (
            not before
            or shared
            or owner.get("subresource") == RESIZE
            or _is_later_apply(owner, since)
            or not _has_sent(owner.get("fieldsV1"), kind, path)
        ):
            return str(owner.get("manager", "")) or "somebody without a name"
    return ""


def _is_later_apply(entry: Mapping[str, Any], since: float) -> bool:
    """When in doubt it is; the server writes whole seconds."""
    at = _seconds(entry.get("time"))
    return entry.get("operation") == "Apply" and (at is None or at > since)


def _has_sent(fields: Any, kind: str, path: Path) -> bool:
    """Whether who has *fields* has sent the pod, or the container in it that *path* is about: its name."""
    first, *rest = path.steps
    within = [first, *rest[:1]] if rest and isinstance(rest[0], ItemStep) else [_CONTAINERS]
    found = [fields]
    for step in steps_in(kind, Path(tuple(within))):
        found = [
            inner for each in found if isinstance(each, dict) for inner in _entered(each, step)
        ]
    if len(within) == 1:
        found = [inner for each in found if isinstance(each, dict) for inner in each.values()]
    return any(isinstance(each, dict) and "f:name" in each for each in found)


def _has(fields: Any, steps: tuple[Step, ...], *, whole: bool) -> bool:
    """Whether the set *fields* has what *steps* lead to; *whole*: also as a part of one whole value."""
    if not isinstance(fields, dict):
        return False
    if not steps:
        return True
    if not fields:
        return whole
    first, *rest = steps
    return any(_has(inner, tuple(rest), whole=whole) for inner in _entered(fields, first))


def _entered(fields: Mapping[str, Any], step: Step) -> Iterator[Any]:
    if not isinstance(step, ItemStep):
        if (name := f"f:{step.name}") in fields:
            yield fields[name]
        return
    for key, inner in fields.items():
        sign, _, text = key.partition(":")
        try:
            found = json.loads(text) if sign == ("k" if step.by else "v") else None
        except (ValueError, RecursionError):
            continue
        if found == item_of(step.value) if not step.by else _names(found, step):
            yield inner


def _names(found: Any, step: ItemStep) -> bool:
    return isinstance(found, dict) and found.get(step.by) == step.value


def _seconds(time: Any) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (TypeError, ValueError):
        return None
