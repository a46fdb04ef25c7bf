"""A file answers one question: at 400 lines it answers several."""

from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Problem, Tree, broken, hold, planted

LONGEST = 400
ONE_QUESTION = {
    "agent/nemutator_agent/profiler/symbols/demangled/itanium.py": "a grammar, whose rules call each other",
    "tests/e2e/first_light/test_whole_way.py": "a day, whose steps go on from each other",
}
"""Longer files that stay whole, and why."""
WRITTEN_BY_PEOPLE = {".py", ".js", ".css", ".html", ".c", ".h", ".sh"}
GENERATED = {"vmlinux.h"}


def problems(tree: Tree) -> Iterator[Problem]:
    for path in tree.files:
        scripts = path.suffix == "" and path.parts[0] in {"scripts", ".ci"}
        if path.name in GENERATED or path.name.endswith("_pb2.py"):
            continue
        if path.suffix in WRITTEN_BY_PEOPLE or scripts:
            lines = (tree.root / path).read_text().count("\n")
            if lines > LONGEST and str(path) not in ONE_QUESTION:
                yield Problem(path, lines, f"longer than {LONGEST} lines: find the seam")
            if lines <= LONGEST and str(path) in ONE_QUESTION:
                yield Problem(path, lines, "not long any more: take it from ONE_QUESTION")


def test_no_file_is_too_long() -> None:
    hold(problems, "Either find the seam and make two files, or delete what is not needed.")


def test_a_long_file_is_named(tmp_path: Path) -> None:
    tree = planted(tmp_path, {"agent/long.py": "x = 1\n" * 401, "agent/fits.py": "x = 1\n" * 400})
    assert broken(problems, tree) == ["agent/long.py:401: longer than 400 lines: find the seam"]


def test_a_file_that_is_not_long_any_more_is_named(tmp_path: Path) -> None:
    grammar, day = ONE_QUESTION
    tree = planted(tmp_path, {grammar: "x = 1\n" * 400, day: "x = 1\n" * 401})
    assert broken(problems, tree) == [
        f"{grammar}:400: not long any more: take it from ONE_QUESTION"
    ]
