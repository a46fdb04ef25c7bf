"""Log lines are an event name and keys from names.py, so that docs/reference.md knows every key."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Problem, Tree, broken, hold, planted

LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}


def problems(tree: Tree) -> Iterator[Problem]:
    for module in tree.modules:
        for node in module.nodes:
            if isinstance(node, ast.Call) and _is_log_call(node):
                event = node.args[0] if node.args else None
                text = event.value if isinstance(event, ast.Constant) else event
                if isinstance(text, str) and not re.fullmatch(r"[a-z][a-z0-9_]*", text):
                    yield module.problem(node, f"an event is a name in snake_case: {text!r}")
                for argument in node.args[1:]:
                    yield from (
                        module.problem(key, f"a log key is not from names.py: {ast.unparse(key)}")
                        for key in _foreign_keys(argument)
                    )


def _is_log_call(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in LEVELS
        and isinstance(function.value, ast.Name)
        and function.value.id in {"log", "logger"}
    )


def _foreign_keys(argument: ast.expr) -> Iterator[ast.expr]:
    if isinstance(argument, ast.Dict):
        for key in argument.keys:
            if key is not None and not ast.unparse(key).startswith("names."):
                yield key


def test_log_lines_use_the_vocabulary() -> None:
    hold(problems, "Either use a key of names.py, or declare the new one there with its meaning.")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ('log.info("started", {"port": 1})', "a log key is not from names.py: 'port'"),
        ('log.info("It has started")', "an event is a name in snake_case: 'It has started'"),
    ],
)
def test_a_line_in_other_words_is_named(tmp_path: Path, call: str, what: str) -> None:
    tree = planted(tmp_path, {"agent/nemutator_agent/app.py": f"{call}\n"})
    assert broken(problems, tree) == [f"agent/nemutator_agent/app.py:1: {what}"]
