"""Which kind each module is: what its name says, and what `[tool.nemutator]` adds to that."""

import enum
from collections.abc import Mapping

from tests.house.tree import Module, Tree


class Kind(enum.IntEnum):
    PURE = 0
    ENGINE = 1
    EDGE = 2


EDGE_NAMES = frozenset({"__main__", "command", "endpoint", "files", "sql"})
LISTS = {"engines": Kind.ENGINE, "edges": Kind.EDGE}


def by_name(module: Module) -> Kind:
    """What a reader of the tree takes *module* for. A package's own file is named by nobody."""
    if module.path.stem == "__init__":
        return Kind.PURE
    if module.path.stem in EDGE_NAMES or "app" in module.name.split("."):
        return Kind.EDGE
    return Kind.ENGINE if module.path.stem.endswith("ing") else Kind.PURE


def listed(tree: Tree, key: str) -> list[str]:
    names: list[str] = tree.project["tool"]["nemutator"].get(key, [])
    return names


def kinds(tree: Tree) -> Mapping[str, Kind]:
    """The kind of each module by its name for imports; a list wins over what the name says."""
    named = {module.name: by_name(module) for module in tree.modules}
    return named | {name: kind for key, kind in LISTS.items() for name in listed(tree, key)}
