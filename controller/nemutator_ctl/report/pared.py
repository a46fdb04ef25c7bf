"""What may go into a report: numbers, and words of our own vocabulary.

Of text only that stays whose field is known to hold a word of ours or a name in Kubernetes. All other text
is a stranger's: a value of a variable, a command line, a reason that quotes one. Its length stays.
"""

from collections.abc import Mapping

KEPT = frozenset(
    {
        *("apiVersion", "kind", "version", "state", "mode", "verdict", "result", "phase"),
        *("measure", "runtime", "runtime_version", "name", "namespace", "node", "container"),
        *("owner_kind", "owner", "ownerKind", "ownerName", "policy", "policies", "pod", "cluster"),
        *("kernel", "system", "id", "uid", "operation", "path", "direction", "protocol"),
    }
)
"""Fields whose text stays; `path` is of a field in a manifest."""

LEFT_OUT = frozenset({"before", "after", "value", "values", "command", "script", "secret"})
"""Fields of which nothing stays, numbers neither."""

LONGEST = 200


def pared(document: object, field: str = "") -> object:
    """*document* without strangers' text."""
    if field in LEFT_OUT:
        return "(left out)"
    if isinstance(document, Mapping):
        return {str(key)[:LONGEST]: pared(value, str(key)) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [pared(each, field) for each in document]
    if isinstance(document, str):
        return document[:LONGEST] if field in KEPT else f"({len(document)} characters)"
    return document


def without_labels(document: object) -> object:
    """*document* without its labels and annotations, whose keys and values are strangers' too."""
    if isinstance(document, Mapping):
        return {
            key: without_labels(value)
            for key, value in document.items()
            if key not in ("labels", "annotations", "environment")
        }
    if isinstance(document, list | tuple):
        return [without_labels(each) for each in document]
    return document
