"""One public class name, one meaning: who greps for a class finds one."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Module, Problem, Tree, broken, hold, planted

STILL_TWICE = "class_names_twice"
"""The list in [tool.nemutator] of names that wait for another one."""

MEND = """
A class name that two modules have: either give one of them the name of what it is there, or let both
import the one class from a room below. A line of the list that is not needed any more is deleted.
"""


def problems(tree: Tree) -> Iterator[Problem]:
    found: dict[str, list[tuple[Module, ast.ClassDef]]] = defaultdict(list)
    for module in tree.modules:
        for node in module.syntax.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append((module, node))
    twice = {name for name, places in found.items() if len(places) > 1}
    still = tree.project["tool"]["nemutator"].get(STILL_TWICE, [])
    for name in sorted(twice - {*still}):
        for module, node in found[name]:
            others = ", ".join(other.name for other, _ in found[name] if other is not module)
            yield module.problem(node, f"class {name} is also in {others}")
    for name in still:
        if name not in twice:
            what = f"[tool.nemutator] {STILL_TWICE}: {name} is not there twice"
            yield Problem(Path("pyproject.toml"), 1, what)


def test_no_public_class_name_is_there_twice() -> None:
    hold(problems, MEND)


RATES, SPEEDS = "agent/nemutator_agent/rates.py", "controller/nemutator_controller/speeds.py"
TWO = dict.fromkeys((RATES, SPEEDS), "class Rate: ...\nclass _Own: ...\n")


def test_a_name_in_two_rooms_is_named_in_both(tmp_path: Path) -> None:
    assert broken(problems, planted(tmp_path, TWO)) == [
        f"{RATES}:1: class Rate is also in nemutator_controller.speeds",
        f"{SPEEDS}:1: class Rate is also in nemutator_agent.rates",
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [("Rate", []), ("Speed", ["[tool.nemutator] class_names_twice: Speed is not there twice"])],
)
def test_the_list_of_exceptions_may_only_shrink(
    tmp_path: Path, name: str, found: list[str]
) -> None:
    listed = {"pyproject.toml": f'[tool.nemutator]\nclass_names_twice = ["Rate", "{name}"]\n'}
    told = broken(problems, planted(tmp_path, TWO | listed))
    assert told == [f"pyproject.toml:1: {what}" for what in found]
