"""What `-o name` prints: one name a line, as the next command takes it."""

from collections.abc import Iterator, Mapping

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.terminal_text import visible

LONGEST = 600


def item_names(document: object) -> str:
    """A line for each item of *document*; an `OperatorError` when it is no list."""
    items = document.get("items") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise OperatorError(
            "this is no list of things with names",
            remedy="use -o json or -o yaml here",
            code=ExitCode.USAGE,
        )
    return "".join(f"{name}\n" for name in dict.fromkeys(_named(items)))


def _named(items: list[object]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Mapping) and (name := _name(item)):
            yield visible(name, limit=LONGEST)


def _name(item: Mapping[str, object]) -> str:
    for key in ("id", "key", "path"):
        if item.get(key):
            return str(item[key])
    inner = item.get("workload")
    if isinstance(inner, Mapping):
        return _name(inner)
    if inner:
        return str(inner)
    name = item.get("name") or item.get("pod") or item.get("node")
    if not name and item.get("owner"):
        # As `nemutator explain` takes a row of `advise`.
        return (
            f"{item['owner_kind']}/{item['owner']}"
            if item.get("owner_kind")
            else str(item["owner"])
        )
    if not name:
        return str(item.get("namespace") or "")
    kind = item.get("kind")
    return f"{str(kind).lower()}/{name}" if kind else str(name)
