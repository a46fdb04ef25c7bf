"""The plan of a rollback and its end, for people."""

from collections.abc import Iterator

from nemutator_ctl.answers import not_understood
from nemutator_ctl.edits import maybe, said
from nemutator_ctl.json_values import mapping
from nemutator_ctl.terminal_text import visible

WIDTH = 200


def plan(document: object) -> str:
    """What will be done to each field, or an `OperatorError` when *document* is no plan."""
    try:
        return _text(document, _steps(document))
    except (KeyError, TypeError) as error:
        raise not_understood(f"not a plan ({type(error).__name__})") from error


def outcome(document: object) -> str:
    """What became of each field."""
    try:
        return _text(document, _outcomes(document))
    except (KeyError, TypeError) as error:
        raise not_understood(f"not the end of a rollback ({type(error).__name__})") from error


def is_pod(word: str) -> bool:
    """Whether *word* names a pod as NAMESPACE/NAME does."""
    namespace, _, name = word.partition("/")
    return bool(namespace and name) and "/" not in name


def anything_to_do(document: object) -> bool:
    steps = mapping(document).get("steps", [])
    return any(mapping(step).get("verdict") == "reverse" for step in steps)


def keeps(document: object) -> bool:
    """Whether a plan leaves something of the mutation as it is."""
    steps = mapping(document).get("steps", [])
    return any(mapping(step).get("verdict") == "conflict" for step in steps)


def is_whole(document: object) -> bool:
    """Whether all of the mutation has been rolled back."""
    return mapping(document).get("state") == "reversed"


def _steps(document: object) -> Iterator[str]:
    for step in map(mapping, mapping(document)["steps"]):
        yield f"  {step['path']}: {step['what']}"
        live, before = said(maybe(step["live"])), said(maybe(step["before"]))
        if step["verdict"] == "reverse":
            yield f"      {live} → {before}"
        elif step["verdict"] == "conflict":
            yield f"      is {live}, we had set {said(maybe(step['after']))}"


def _outcomes(document: object) -> Iterator[str]:
    for each in map(mapping, mapping(document)["outcomes"]):
        yield f"  {each['path']}: {each['result']}" + (f": {each['why']}" if each["why"] else "")
    yield f"  {mapping(document)['state']}"


def _text(document: object, lines: Iterator[str]) -> str:
    subject = mapping(mapping(document)["object"])
    where = f"{subject['namespace']}/" if subject["namespace"] else ""
    head = f"{mapping(document)['id']}: {subject['kind']} {where}{subject['name']}"
    return "".join(visible(line, limit=WIDTH) + "\n" for line in (head, *lines))
