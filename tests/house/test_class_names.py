"""One public class name, one meaning: who greps for a class finds one."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Module, Problem, Tree, broken, hold, planted

MEND = """
A class name that two modules have: either give one of them the name of what it is there, or let both
import the one class from a room below.
"""


def problems(tree: Tree) -> Iterator[Problem]:
    found: dict[str, list[tuple[Module, ast.ClassDef]]] = defaultdict(list)
    for module in tree.modules:
        for node in module.syntax.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append((module, node))
    for name, places in found.items():
        for module, node in places:
            if others := ", ".join(other.name for other, _ in places if other is not module):
                yield module.problem(node, f"class {name} is also in {others}")


def test_no_public_class_name_is_there_twice() -> None:
    hold(problems, MEND)


RATES, SPEEDS = "agent/nemutator_agent/rates.py", "controller/nemutator_controller/speeds.py"
TWO = dict.fromkeys((RATES, SPEEDS), "class Rate: ...\nclass _Own: ...\n")


def test_a_name_in_two_rooms_is_named_in_both(tmp_path: Path) -> None:
    assert broken(problems, planted(tmp_path, TWO)) == [
        f"{RATES}:1: class Rate is also in nemutator_controller.speeds",
        f"{SPEEDS}:1: class Rate is also in nemutator_agent.rates",
    ]
