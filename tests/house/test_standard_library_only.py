"""The vocabulary is read by every process, the smallest too: it needs nothing installed.

Everything in common/ is vocabulary but what speaks HTTP and what starts a process.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Problem, Tree, broken, hold, planted

PACKAGE = "nemutator_common"
NOT_VOCABULARY = ("hvac_socket", "launching", "profiles", "real_process", "serving", "shipping")


def problems(tree: Tree) -> Iterator[Problem]:
    for module in tree.modules:
        package, *rest = module.name.split(".")
        if package != PACKAGE or (rest and rest[0] in NOT_VOCABULARY):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{name.name}" for name in node.names]
            else:
                continue
            for name in names:
                top, *inner = name.split(".")
                foreign = top not in sys.stdlib_module_names and top != PACKAGE
                if foreign or (top == PACKAGE and inner and inner[0] in NOT_VOCABULARY):
                    yield module.problem(node, f"the vocabulary may not import {name}")


def test_the_vocabulary_needs_nothing_installed() -> None:
    hold(
        problems, "Either do without it, or move the module out of the vocabulary (NOT_VOCABULARY)."
    )


def test_what_the_vocabulary_may_not_import_is_named(tmp_path: Path) -> None:
    source = "import json\nimport msgspec\nfrom nemutator_common.serving import server\n"
    tree = planted(tmp_path, {"common/nemutator_common/wire.py": source})
    wire, what = "common/nemutator_common/wire.py", "the vocabulary may not import"
    assert broken(problems, tree) == [
        f"{wire}:2: {what} msgspec",
        f"{wire}:3: {what} nemutator_common.serving.server",
    ]
