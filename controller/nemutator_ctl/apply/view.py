"""What applying has done, for people; and in which order to apply."""

from collections.abc import Iterable

from nemutator_ctl.answers import not_understood
from nemutator_ctl.changes import change_of, diff
from nemutator_ctl.terminal_text import visible

POLICY = "MutationPolicy"
WIDTH = 200


def in_order(documents: Iterable[object]) -> list[object]:
    """Policies first: those in the same files count for what is applied with them."""
    return sorted(documents, key=lambda each: not _is_policy(each))


def view(document: object) -> str:
    """One object: what became of it, and what was changed in it."""
    try:
        if not isinstance(document, dict):
            raise TypeError(document)
        thing = document["object"]
        where = f"{thing['namespace']}/" if thing["namespace"] else ""
        id_ = f"  (mutation {document['id']})" if document["id"] else ""
        head = f"{thing['kind']} {where}{thing['name']} {document['outcome']}{id_}"
        warnings = [f"  warning: {text}" for text in document["warnings"]]
        previewed = diff(map(change_of, document["previewed"]))
        changed = diff(map(change_of, document["edits"]))
    except (KeyError, TypeError) as error:
        raise not_understood(f"not what applying answers ({type(error).__name__})") from error
    lines = "".join(visible(line, limit=WIDTH) + "\n" for line in (head, *warnings))
    return lines + changed + (f"  preview only:\n{previewed}" if previewed else "")


def _is_policy(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == POLICY
