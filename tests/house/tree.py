"""A source tree as the rules of the house see it, so that a rule can be shown a broken one too."""

import ast
import functools
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
COMPONENTS = ("agent", "bpf", "common", "controller", "initcontainer")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Module:
    """One Python file of ours; *path* is relative to the tree."""

    root: Path
    path: Path

    @functools.cached_property
    def text(self) -> str:
        return (self.root / self.path).read_text()

    @functools.cached_property
    def syntax(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of its syntax: every rule looks at all of it, and to walk it takes longest."""
        return tuple(ast.walk(self.syntax))

    @property
    def name(self) -> str:
        """What it is imported as: a component's folder is no part of it."""
        parts = self.path.with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def problem(self, node: ast.AST, what: str) -> Problem:
        return Problem(self.path, getattr(node, "lineno", 1), what)


@dataclass(frozen=True)
class Tree:
    root: Path = REPOSITORY

    @functools.cached_property
    def modules(self) -> tuple[Module, ...]:
        """The product's modules, without tests and migrations of the database."""
        return tuple(
            Module(self.root, path)
            for path in self._files(COMPONENTS, ".py")
            if "versions" not in path.parts
        )

    @functools.cached_property
    def tests(self) -> tuple[Module, ...]:
        return tuple(Module(self.root, path) for path in self._files(("tests",), ".py"))

    @functools.cached_property
    def project(self) -> Mapping[str, Any]:
        return tomllib.loads((self.root / "pyproject.toml").read_text())

    @functools.cached_property
    def files(self) -> tuple[Path, ...]:
        """Everything that is, or is about to be, committed."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, capture_output=True, check=False)
        if listed.returncode == 0:
            names = [Path(name) for name in listed.stdout.decode().split("\0") if name]
        else:  # an unpacked archive, or a tree made by a test
            names = [path.relative_to(self.root) for path in self.root.rglob("*")]
        hidden = {".venv", ".git"}
        return tuple(
            sorted(n for n in names if not hidden & {*n.parts} and (self.root / n).is_file())
        )

    def _files(self, folders: Iterable[str], suffix: str) -> Iterator[Path]:
        return (path for path in self.files if path.parts[0] in folders and path.suffix == suffix)


Rule = Callable[[Tree], Iterable[Problem]]


@functools.cache
def ours() -> Tree:
    """The tree that this file is in, read and parsed once for all rules."""
    return Tree()


def broken(rule: Rule, tree: Tree) -> list[str]:
    """What breaks *rule* in *tree*, a line each."""
    return [str(problem) for problem in sorted(rule(tree))]


def hold(rule: Rule, mend: str) -> None:
    """Fail with the sentences of *rule* on our own tree, and with what mends them."""
    if found := broken(rule, ours()):
        pytest.fail("\n".join([*found, "", mend.strip()]), pytrace=False)


def planted(root: Path, files: Mapping[str, str]) -> Tree:
    """A tree under *root* with these *files*: what a test shows to a rule."""
    files = {"pyproject.toml": "[tool.nemutator]\n", **files}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(root)
