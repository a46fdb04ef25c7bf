"""Edits of objects for people: what a field was, and what it is or would be."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_ctl.terminal_text import visible

WIDTH = 160
"""Columns that a line may take: a whole container can be a value."""


@dataclass(frozen=True, slots=True)
class ShownEdit:
    path: str
    before: tuple[object, ...]
    """Empty when the field was absent; otherwise its one value."""
    after: tuple[object, ...]
    policy: str = ""
    reason: str = ""


def edit_from(raw: object) -> ShownEdit:
    """The edit in a document; raises TypeError or KeyError when *raw* is not one."""
    if not isinstance(raw, Mapping):
        raise TypeError(raw)
    return ShownEdit(
        path=str(raw["path"]),
        before=maybe(raw["before"]),
        after=maybe(raw["after"]),
        policy=str(raw.get("policy", "")),
        reason=str(raw.get("reason", "")),
    )


def maybe(raw: object) -> tuple[object, ...]:
    """A value that may be absent."""
    if not isinstance(raw, list | tuple) or len(raw) > 1:
        raise TypeError(raw)
    return tuple(raw)


def diff(edits: Iterable[ShownEdit]) -> str:
    """Each field as a diff shows it: the old line, the new line, and who wants it."""
    return "".join(_lines(edit) for edit in edits)


def said(value: tuple[object, ...]) -> str:
    """A value on one line."""
    if not value:
        return "(absent)"
    return json.dumps(value[0], sort_keys=True, separators=(", ", ": "))


def _lines(edit: ShownEdit) -> str:
    lines = []
    if edit.before:
        lines.append(f"  - {edit.path}: {said(edit.before)}")
    if edit.after:
        lines.append(f"  + {edit.path}: {said(edit.after)}")
    text = "".join(visible(line, limit=WIDTH) + "\n" for line in lines)
    why = ": ".join(filter(None, (edit.policy, edit.reason)))
    return text + (visible(f"      by {why}", limit=WIDTH) + "\n" if why else "")
