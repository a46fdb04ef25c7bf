"""The vocabulary is whole, and alone: what is used is declared, what is declared is used.

Log lines are an event name and keys from names/, so that docs/reference.md knows every key. A
metric that nobody counts and a key that no line has are promises that are not kept. The words of
annotations and API groups are spelled in names/, and nowhere else.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Module, Problem, Tree, broken, hold, planted

LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}
VOCABULARY = "nemutator_common.names"
DOMAIN = "nemutator.io"


def log_lines(tree: Tree) -> Iterator[Problem]:
    for module in tree.modules:
        for node in module.nodes:
            if isinstance(node, ast.Call) and _is_log_call(node):
                event = node.args[0] if node.args else None
                text = event.value if isinstance(event, ast.Constant) else event
                if isinstance(text, str) and not re.fullmatch(r"[a-z][a-z0-9_]*", text):
                    yield module.problem(node, f"an event is a name in snake_case: {text!r}")
                for argument in node.args[1:]:
                    yield from (
                        module.problem(key, f"a log key is not from names/: {ast.unparse(key)}")
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


def _is_vocabulary(module: Module) -> bool:
    return f"{module.name}.".startswith(f"{VOCABULARY}.")


@functools.cache
def _declared(tree: Tree, kind: str) -> dict[str, tuple[Module, ast.Assign]]:
    """What names/ declares as a *kind*, by the name of its constant."""
    return {
        node.targets[0].id: (module, node)
        for module in filter(_is_vocabulary, tree.modules)
        for node in module.syntax.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == kind
    }


def unused(tree: Tree) -> Iterator[Problem]:
    counted: set[str] = set()
    logged: set[str] = set()
    for module in tree.modules:
        if _is_vocabulary(module):
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                counted |= {name for each in given if (name := _constant(each))}
            elif isinstance(node, ast.Dict):
                logged |= {name for each in node.keys if each and (name := _constant(each))}
    for kind, used, what in (
        ("Metric", counted, "no product code counts it"),
        ("Key", logged | counted, "no log line has it"),
    ):
        for name, (module, node) in _declared(tree, kind).items():
            if name not in used:
                yield module.problem(node, f"{kind.lower()} {name}: {what}")


def _constant(node: ast.expr) -> str | None:
    """`names.NAME` → NAME."""
    named = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "names"
    return node.attr if isinstance(node, ast.Attribute) and named else None


def spelled_again(tree: Tree) -> Iterator[Problem]:
    """Our domain, and the part of an annotation behind it, where that is no everyday word."""
    words = {
        word.removeprefix("{DOMAIN}/")
        for _, node in _declared(tree, "Word").values()
        if isinstance(node.value, ast.Call) and isinstance(node.value.args[0], ast.JoinedStr)
        for word in [ast.unparse(node.value.args[0])[2:-1]]
    }
    peculiar = {word for word in words if re.search(r"[-.]", word)}
    for module in tree.modules:
        if _is_vocabulary(module):
            continue
        documentation = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr)}
        for node in module.nodes:
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if id(node) not in documentation and (DOMAIN in node.value or node.value in peculiar):
                yield module.problem(node, f"a word of names/ is spelled again: {node.value!r}")


def test_log_lines_use_the_vocabulary() -> None:
    hold(log_lines, "Either use a key of names/, or declare the new one there with its meaning.")


def test_every_metric_is_counted_and_every_key_is_logged() -> None:
    hold(unused, "Either count or log it where it happens, or delete it from names/.")


def test_words_of_annotations_stand_in_the_vocabulary_alone() -> None:
    hold(spelled_again, "Either use the name that names/ has, or declare the word there.")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ('log.info("started", {"port": 1})', "a log key is not from names/: 'port'"),
        ('log.info("It has started")', "an event is a name in snake_case: 'It has started'"),
    ],
)
def test_a_line_in_other_words_is_named(tmp_path: Path, call: str, what: str) -> None:
    tree = planted(tmp_path, {"agent/nemutator_agent/app.py": f"{call}\n"})
    assert broken(log_lines, tree) == [f"agent/nemutator_agent/app.py:1: {what}"]


NAMES = """DOMAIN = "nemutator.io"
READS = Metric("nemutator_reads_total", "counter", "reads")
TASKS = Key("tasks", "names of tasks")
VAULT_ROLE = Word(f"{DOMAIN}/vault-role", "a role")
SKIP = Word(f"{DOMAIN}/skip", "leave it alone")
"""


@pytest.mark.parametrize(
    ("source", "unused_names"),
    [
        ("meter.count(names.READS)\nlog.info('done', {names.TASKS: 1})\n", []),
        ("Counted(gauge=names.READS)\nbound(names.TASKS)\n", []),
        ("log.info('done', {names.TASKS: 1})\n", ["READS"]),
        ("meter.count(names.READS)\n", ["TASKS"]),
        ("from nemutator_common.names import READS, TASKS\n", ["READS", "TASKS"]),
        ("x = names.READS\nnames.TASKS\n", ["READS", "TASKS"]),
    ],
)
def test_what_is_declared_and_not_used_is_named(
    tmp_path: Path, source: str, unused_names: list[str]
) -> None:
    files = {
        "common/nemutator_common/names/words.py": NAMES,
        "agent/nemutator_agent/app.py": source,
    }
    whys = {"READS": "2: metric READS: no product code counts it"}
    whys |= {"TASKS": "3: key TASKS: no log line has it"}
    found = broken(unused, planted(tmp_path, files))
    assert found == [
        f"common/nemutator_common/names/words.py:{whys[name]}" for name in unused_names
    ]


@pytest.mark.parametrize("word", ["nemutator.io/new", "nemutator.io", "vault-role"])
def test_a_word_that_is_spelled_again_is_named(tmp_path: Path, word: str) -> None:
    files = {
        "common/nemutator_common/names/words.py": NAMES,
        "agent/nemutator_agent/app.py": f'"""Of nemutator.io/new."""\nx = "{word}"\n',
    }
    assert broken(spelled_again, planted(tmp_path, files)) == [
        f"agent/nemutator_agent/app.py:2: a word of names/ is spelled again: {word!r}"
    ]


def test_an_everyday_word_is_free(tmp_path: Path) -> None:
    files = {
        "common/nemutator_common/names/words.py": NAMES,
        "agent/nemutator_agent/app.py": 'x = "skip"\n',
    }
    assert broken(spelled_again, planted(tmp_path, files)) == []
