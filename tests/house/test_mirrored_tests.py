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


def own_tests(module: Module, tree: Tree) -> list[Path]:
    """The test of *module*, and those that go on from it under a longer name, which mirror no other module."""
    first, every = mirror(module), {mirror(other) for other in tree.modules}
    longer = [
        path
        for path in tree.files
        if path.parent == first.parent
        and path.name.startswith(f"{first.stem}_")
        and path not in every
    ]
    return [first, *longer]


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


def test_what_goes_on_from_a_test_under_a_longer_name_is_one_of_its_module(tmp_path: Path) -> None:
    modules = ("sums", "sums_of_days")
    files = {f"agent/nemutator_agent/usage/{name}.py": "x = 1\n" for name in modules}
    tests = ("sums", "sums_of_days", "sums_again", "sum")
    files |= {f"tests/agent/usage/test_{name}.py": "" for name in tests}
    tree = planted(tmp_path, files)
    [first] = [one for one in tree.modules if one.path.name == "sums.py"]
    assert [path.name for path in own_tests(first, tree)] == ["test_sums.py", "test_sums_again.py"]
