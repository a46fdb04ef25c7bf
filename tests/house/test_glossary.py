"""docs/glossary.md is so: what it names in the code exists, and what it replaced is gone.

Its rows are `| word | means | in the code |`; the code spans of the third column are classes,
functions, modules or folders. A word that was given up may not come back in a name.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Module, Problem, Tree, broken, hold, planted

GLOSSARY = Path("docs/glossary.md")

GIVEN_UP = {
    "advised": "recommended, recommendation",
    "conversation": "connection",
    "cupboard": "buffer, queue or cache",
    "desk": "handler, or queue",
    "door": "listener, or pipeline",
    "eyes": "reader",
    "furniture": "files",
    "guest": "peer",
    "handed": "what it is: leaf, token",
    "hearing": "poller, or store",
    "household": "app",
    "keeper": "store",
    "look": "snapshot",
    "picture": "snapshot",
    "sighting": "stamp",
    "theatre": "app",
    "thing": "object, or manifest",
    "unseen": "unknown",
    "visitor": "peer, or session",
    "whose": "owner",
    "witness": "attestor",
}
"""Private words, and what everybody calls it."""


def rows(tree: Tree) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate((tree.root / GLOSSARY).read_text().splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        head = cells[0] == "word" or not cells[0].strip("-: ")
        if line.lstrip().startswith("|") and not head:
            yield number, cells


def dangling(tree: Tree) -> Iterator[Problem]:
    known = {name for module in tree.modules for name in _names(module)} | _folders(tree)
    seen: set[str] = set()
    for number, cells in rows(tree):
        if len(cells) != 3:
            yield Problem(GLOSSARY, number, "expected | word | means | in the code |")
            continue
        word, _, code = cells
        if word in seen:
            yield Problem(GLOSSARY, number, f"{word} is there twice: one word has one meaning")
        seen.add(word)
        spans = re.findall(r"`([^`]+)`", code)
        if not spans:
            yield Problem(GLOSSARY, number, f"{word}: names nothing in the code")
        for span in spans:
            if span not in known:
                yield Problem(GLOSSARY, number, f"{word}: there is no `{span}` in the code")


def _names(module: Module) -> Iterator[str]:
    """Every way to name *module* or what it defines: from the right, as far as is clear."""
    parts = module.name.split(".")
    for at in range(len(parts)):
        yield ".".join(parts[at:])
    path = module.path.parts
    for at in range(len(path)):
        yield "/".join(path[at:])
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            yield f"{parts[-1]}.{node.name}"


def _folders(tree: Tree) -> set[str]:
    return {
        "/".join(parts[start:end]) + "/"
        for parts in (path.parts for path in tree.files)
        for end in range(1, len(parts))
        for start in range(end)
    }


def given_up(tree: Tree) -> Iterator[Problem]:
    for module in tree.modules:
        for name, node in _identifiers(module):
            words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
            for word in {word.lower().removesuffix("s") for word in words} & GIVEN_UP.keys():
                what = f"{name}: {word} was given up, say {GIVEN_UP[word]}"
                yield module.problem(node, what)


def _identifiers(module: Module) -> Iterator[tuple[str, ast.AST]]:
    """What *module* names: itself, its folder, and all that is bound in it."""
    yield module.path.stem, module.syntax
    yield module.path.parent.name, module.syntax
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.arg):
            yield node.arg, node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node


def test_the_glossary_names_what_exists() -> None:
    hold(dangling, "Either correct the row of docs/glossary.md, or give the code that name.")


def test_no_name_has_a_word_that_was_given_up() -> None:
    hold(given_up, "Either say the field's word, or, once it is gone, take it off the list.")


CODE = {"agent/nemutator_agent/credentials/handler.py": "class PodHandler: ...\ndef renew(): ...\n"}
HEAD = "| word | means | in the code |\n|---|---|---|\n"


@pytest.mark.parametrize(
    "span",
    [
        "PodHandler",
        "renew",
        "handler",
        "handler.PodHandler",
        "credentials.handler",
        "nemutator_agent.credentials.handler",
        "credentials/handler.py",
        "credentials/",
        "agent/nemutator_agent/credentials/",
    ],
)
def test_what_exists_may_be_named_in_any_way(tmp_path: Path, span: str) -> None:
    page = f"{HEAD}| handler | answers | `{span}` |\n"
    assert broken(dangling, planted(tmp_path, CODE | {"docs/glossary.md": page})) == []


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("| handler | answers | `Handler` |", "handler: there is no `Handler` in the code"),
        ("| handler | answers | `renew`, `mount/` |", "handler: there is no `mount/` in the code"),
        ("| handler | answers | nowhere |", "handler: names nothing in the code"),
        ("| handler | `renew` |", "expected | word | means | in the code |"),
        (
            "| handler | answers | `renew` |\n| handler | also this | `renew` |",
            "handler is there twice: one word has one meaning",
        ),
    ],
)
def test_a_row_that_is_not_so_is_named(tmp_path: Path, row: str, why: str) -> None:
    tree = planted(tmp_path, CODE | {"docs/glossary.md": f"{HEAD}{row}\n"})
    assert broken(dangling, tree) == [f"docs/glossary.md:{3 + row.count(chr(10))}: {why}"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("usage/desk.py", ""),
        ("usage/pod_desks.py", ""),
        ("desk/pods.py", ""),
        ("usage/pods.py", "class PodDesk: ..."),
        ("usage/pods.py", "class HTTPDesk: ..."),
        ("usage/pods.py", "def desk_of() -> None: ..."),
        ("usage/pods.py", "def f(_desk: int) -> None: ..."),
        ("usage/pods.py", "DESKS = 1"),
        ("usage/pods.py", "def f(self: object) -> None: self._desk = 1"),
    ],
)
def test_a_given_up_word_in_a_name_is_named(tmp_path: Path, path: str, source: str) -> None:
    (found,) = broken(given_up, planted(tmp_path, {f"agent/nemutator_agent/{path}": source}))
    assert found.endswith(": desk was given up, say handler, or queue")


def test_a_word_is_a_whole_word(tmp_path: Path) -> None:
    source = "nothing = outlook = 1\n"
    assert broken(given_up, planted(tmp_path, {"agent/nemutator_agent/a.py": source})) == []
