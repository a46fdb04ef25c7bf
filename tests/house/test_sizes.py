"""A file answers one question: at 600 lines it answers several."""

from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Problem, Tree, broken, hold, planted

LONGEST = 600
WRITTEN_BY_PEOPLE = {".py", ".js", ".css", ".html", ".c", ".h", ".sh"}
GENERATED = {"vmlinux.h"}


def problems(tree: Tree) -> Iterator[Problem]:
    for path in tree.files:
        scripts = path.suffix == "" and path.parts[0] in {"scripts", ".ci"}
        if path.name in GENERATED or path.name.endswith("_pb2.py"):
            continue
        if path.suffix in WRITTEN_BY_PEOPLE or scripts:
            lines = (tree.root / path).read_text().count("\n")
            if lines > LONGEST:
                yield Problem(path, lines, f"longer than {LONGEST} lines: find the seam")


def test_no_file_is_too_long() -> None:
    hold(problems, "Either find the seam and make two files, or delete what is not needed.")


def test_a_long_file_is_named(tmp_path: Path) -> None:
    tree = planted(tmp_path, {"agent/long.py": "x = 1\n" * 601, "agent/fits.py": "x = 1\n" * 600})
    assert broken(problems, tree) == ["agent/long.py:601: longer than 600 lines: find the seam"]
