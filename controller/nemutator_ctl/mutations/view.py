"""Mutations as tables for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.edits import ShownEdit, diff
from nemutator_ctl.tables import Column, moment, table
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
class ChangedObject:
    kind: str
    namespace: str
    name: str
    generate_name: str

    def __str__(self) -> str:
        # A pod that had no name yet is shown by the beginning of its name.
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name or f'{self.generate_name}…'}"


@dataclass(frozen=True, slots=True)
class ListedMutation:
    id: str
    at: Moment
    subject: ChangedObject
    mode: str
    state: str
    edits: tuple[ShownEdit, ...]
    warnings: tuple[str, ...]

    @property
    def standing(self) -> str:
        """What has become of it; of one that was never made, its mode."""
        return self.state if self.mode == "apply" else self.mode


@dataclass(frozen=True, slots=True)
class ListedReversal:
    at: Moment
    state: str


@dataclass(frozen=True, slots=True)
class ShownMutation(ListedMutation):
    reversals: tuple[ListedReversal, ...]


def decode(document: object) -> tuple[ListedMutation, ...]:
    """The mutations in *document*, or an `OperatorError` when it is no list of them."""
    return understood(document, Listing[ListedMutation], "a list of mutations").items


def overview(mutations: Sequence[ListedMutation], *, namespace: str | None = None) -> str:
    """*namespace* is the one that was asked about; None means all."""
    if not mutations and namespace:
        return visible(f"No mutation in namespace {namespace} is recorded.", limit=200) + "\n"
    if not mutations:
        return "Nothing has been changed yet.\n"
    return table(LAYOUT, [_cells(each) for each in mutations])


def details(document: object) -> str:
    """One mutation with each of its fields, and the attempts to roll it back."""
    mutation = understood(document, ShownMutation, "a mutation")
    lines = [
        f"{mutation.id}  {mutation.subject}  {moment(mutation.at)}  {mutation.standing}",
        *(f"warning: {text}" for text in mutation.warnings),
        *(f"{moment(each.at)}: rollback: {each.state}" for each in mutation.reversals),
    ]
    return "".join(visible(line, limit=200) + "\n" for line in lines) + diff(mutation.edits)


def _cells(mutation: ListedMutation) -> Sequence[str]:
    policies = dict.fromkeys(edit.policy for edit in mutation.edits)
    return (
        mutation.id,
        moment(mutation.at),
        str(mutation.subject),
        mutation.standing,
        str(len(mutation.edits)),
        ", ".join(policies),
    )
