"""Objects and their edits for people: what a field was, and what it is or would be."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from nemutator_ctl.terminal_text import visible

WIDTH = 160
"""Columns that a line may take: a whole container can be a value."""

FieldValue = Annotated[tuple[Any, ...], Meta(max_length=1)]
"""Empty when the field is absent; otherwise its one value."""


@dataclass(frozen=True, slots=True)
class ShownObject:
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


@dataclass(frozen=True, slots=True)
class ShownEdit:
    path: str
    before: FieldValue
    after: FieldValue
    policy: str = ""
    reason: str = ""


def diff(edits: Iterable[ShownEdit]) -> str:
    """Each field as a diff shows it: the old line, the new line, and who wants it."""
    return "".join(_lines(edit) for edit in edits)


def one_line(value: FieldValue) -> str:
    if not value:
        return "(absent)"
    return json.dumps(value[0], sort_keys=True, separators=(", ", ": "))


def _lines(edit: ShownEdit) -> str:
    lines = []
    if edit.before:
        lines.append(f"  - {edit.path}: {one_line(edit.before)}")
    if edit.after:
        lines.append(f"  + {edit.path}: {one_line(edit.after)}")
    if why := ": ".join(filter(None, (edit.policy, edit.reason))):
        lines.append(f"      by {why}")
    return "".join(visible(line, limit=WIDTH) + "\n" for line in lines)
