"""What applying has done, for people; and in which order to apply."""

from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_common.errors import OperatorError

from nemutator_ctl.answers import understood
from nemutator_ctl.documents import called
from nemutator_ctl.edits import ShownEdit, ShownObject, diff
from nemutator_ctl.terminal_text import visible

POLICY = "MutationPolicy"
WIDTH = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """One document of a file."""

    file: str
    document: object


@dataclass(frozen=True, slots=True)
class ShownApplied:
    object: ShownObject
    outcome: str
    id: str
    """Of the mutation; empty when nothing was changed."""
    edits: tuple[ShownEdit, ...]
    previewed: tuple[ShownEdit, ...]
    warnings: tuple[str, ...]


def in_order(pieces: Iterable[Piece]) -> list[Piece]:
    """Policies first, so that they count for the manifests that are applied with them."""
    return sorted(pieces, key=lambda each: not _is_policy(each.document))


def refused(piece: Piece, error: OperatorError, *, left: int = 0) -> OperatorError:
    """*error*, with what it is about, and how many pieces are *left* untried because of it."""
    about = (visible(each, limit=WIDTH) for each in (piece.file, called(piece.document)) if each)
    what = ": ".join((*about, error.what)) + (f" ({left} more not tried)" if left else "")
    return OperatorError(what, remedy=error.remedy, code=error.code)


def view(document: object) -> str:
    """One object: what became of it, and what was changed in it."""
    applied = understood(document, ShownApplied, "what applying answers")
    id_ = f"  (mutation {applied.id})" if applied.id else ""
    lines = [
        f"{applied.object} {applied.outcome}{id_}",
        *(f"  warning: {text}" for text in applied.warnings),
    ]
    previewed = diff(applied.previewed)
    return (
        "".join(visible(line, limit=WIDTH) + "\n" for line in lines)
        + diff(applied.edits)
        + (f"  preview only:\n{previewed}" if previewed else "")
    )


def _is_policy(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == POLICY
