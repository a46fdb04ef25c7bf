"""Mutations as tables for people."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import not_understood
from nemutator_ctl.edits import ShownEdit, diff, edit_from
from nemutator_ctl.json_values import items, mapping
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

MUTATIONS_PATH = "/api/v1/mutations"

LAYOUT = (
    Column("ID", limit=64),
    Column("WHEN", limit=20),
    Column("OBJECT", limit=70),
    Column("STATE", limit=10),
    Column("FIELDS", right=True),
    Column("POLICIES", limit=40),
)


@dataclass(frozen=True, slots=True)
class ListedMutation:
    id: str
    at: float
    what: str
    state: str
    edits: tuple[ShownEdit, ...]
    warnings: tuple[str, ...]


def decode(document: object) -> tuple[ListedMutation, ...]:
    """The mutations in *document*, or an `OperatorError` when it is no list of them."""
    try:
        return tuple(map(_mutation, items(mapping(document)["items"])))
    except (KeyError, TypeError, ValueError) as error:
        raise not_understood(f"not a list of mutations ({type(error).__name__})") from error


def overview(mutations: Sequence[ListedMutation], *, namespace: str | None = None) -> str:
    """*namespace* is the one that was asked about; None means all."""
    if not mutations and namespace:
        return visible(f"No mutation in namespace {namespace} is recorded.", limit=200) + "\n"
    if not mutations:
        return "Nothing was changed yet.\n"
    return table(LAYOUT, [_cells(each) for each in mutations])


def details(document: object) -> str:
    """One mutation with each of its fields, and the attempts to roll it back."""
    try:
        mutation = _mutation(document)
        tries = [mapping(each) for each in items(mapping(document)["reversals"])]
        ends = [f"{_when(each['at'])}: rollback: {each['state']}" for each in tries]
    except (KeyError, TypeError, ValueError) as error:
        raise not_understood(f"not a mutation ({type(error).__name__})") from error
    head = f"{mutation.id}  {mutation.what}  {_when(mutation.at)}  {mutation.state}"
    lines = [visible(line, limit=200) for line in (head, *mutation.warnings, *ends)]
    return "\n".join(lines) + "\n" + diff(mutation.edits)


def _mutation(raw: object) -> ListedMutation:
    each = mapping(raw)
    subject = mapping(each["subject"])
    # A pod that had no name yet is shown by the beginning of its name.
    name = subject["name"] or f"{subject['generate_name']}…"
    mode = str(each["mode"])
    return ListedMutation(
        id=str(each["id"]),
        at=_moment(each["at"]),
        what=f"{subject['kind']} {subject['namespace']}/{name}",
        state=mode if mode != "apply" else str(each["state"]),
        edits=tuple(map(edit_from, items(each["edits"]))),
        warnings=tuple(f"warning: {text}" for text in items(each["warnings"])),
    )


def _cells(mutation: ListedMutation) -> Sequence[str]:
    policies = dict.fromkeys(edit.policy for edit in mutation.edits)
    return (
        mutation.id,
        _when(mutation.at),
        mutation.what,
        mutation.state,
        str(len(mutation.edits)),
        ", ".join(policies),
    )


def _when(at: object) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(_moment(at)))


def _moment(raw: object) -> float:
    if not isinstance(raw, int | float) or not 0 <= raw < 1e11:
        raise TypeError(raw)
    return float(raw)
