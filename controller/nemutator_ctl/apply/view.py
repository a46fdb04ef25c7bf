"""What applying has done, for people; and in which order to apply."""

from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_common.errors import OperatorError

from nemutator_ctl.answers import not_understood
from nemutator_ctl.documents import called
from nemutator_ctl.edits import diff, edit_from
from nemutator_ctl.terminal_text import visible

POLICY = "MutationPolicy"
WIDTH = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """One document of a file."""

    file: str
    document: object


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
    try:
        if not isinstance(document, dict):
            raise TypeError(document)
        subject = document["object"]
        where = f"{subject['namespace']}/" if subject["namespace"] else ""
        id_ = f"  (mutation {document['id']})" if document["id"] else ""
        head = f"{subject['kind']} {where}{subject['name']} {document['outcome']}{id_}"
        warnings = [f"  warning: {text}" for text in document["warnings"]]
        previewed = diff(map(edit_from, document["previewed"]))
        changed = diff(map(edit_from, document["edits"]))
    except (KeyError, TypeError) as error:
        raise not_understood(f"not what applying answers ({type(error).__name__})") from error
    lines = "".join(visible(line, limit=WIDTH) + "\n" for line in (head, *warnings))
    return lines + changed + (f"  preview only:\n{previewed}" if previewed else "")


def _is_policy(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == POLICY
