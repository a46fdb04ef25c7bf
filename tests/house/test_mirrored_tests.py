"""Every pure and engine module has its test where a reader looks for it.

Edges are proven by contract suites and end to end. A module of nothing but Protocols has nothing to
run: what fulfils it is tested. Nor has an `__init__.py` that only names constants.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.kinds import Kind, kinds
from tests.house.tree import Module, Problem, Tree, broken, hold, planted

FOLDERS = {
    "nemutator_agent": "agent",
    "nemutator_bpf": "bpf",
    "nemutator_common": "common",
    "nemutator_controller": "controller",
    "nemutator_ctl": "ctl",
    "nemutator_init": "init",
}


def mirror(module: Module) -> Path:
    _, package, *folders, file = module.path.parts
    return Path("tests", FOLDERS[package], *folders, f"test_{file}")


def problems(tree: Tree) -> Iterator[Problem]:
    kind_of = kinds(tree)
    for module in tree.modules:
        if kind_of[module.name] is Kind.EDGE or _only_declares(module):
            continue
        if not (tree.root / mirror(module)).is_file():
            yield Problem(module.path, 1, f"its test is missing: {mirror(module)}")


def _only_declares(module: Module) -> bool:
    constants = (ast.Assign, ast.AnnAssign) if module.path.name == "__init__.py" else ()
    return all(
        isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr, *constants))
        or (isinstance(node, ast.ClassDef) and _is_protocol(node))
        for node in module.syntax.body
    )


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)


def test_every_pure_and_engine_module_has_its_test() -> None:
    hold(
        problems,
        "Either write the test at that path, or, for an edge, list the module as one in [tool.nemutator].",
    )


def test_a_module_without_its_test_is_named(tmp_path: Path) -> None:
    files = {
        "agent/nemutator_agent/usage/sums.py": "x = 1\n",
        "agent/nemutator_agent/usage/ports.py": "class A(Protocol):\n    x: int\n",
        "agent/nemutator_agent/usage/tested.py": "x = 1\n",
        "tests/agent/usage/test_tested.py": "",
    }
    missing = "tests/agent/usage/test_sums.py"
    found = broken(problems, planted(tmp_path, files))
    assert found == [f"agent/nemutator_agent/usage/sums.py:1: its test is missing: {missing}"]
