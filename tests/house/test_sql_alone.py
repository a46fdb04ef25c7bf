"""SQL stands in `sql.py` files and in `database/` alone: who changes a table finds all its users.

Three signs of it: what builds statements is imported, a table of the schema is, or a text is one.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Problem, Tree, broken, hold, planted

CLIENTS = {"alembic", "psycopg", "sqlalchemy", "sqlite3"}
TABLES = "nemutator_controller.database.schema"
# As statements begin; upper case, so that a sentence is none.
STATEMENT = re.compile(
    r"\s*(SELECT\b.*|INSERT (OR [A-Z]+ )?INTO\b|REPLACE INTO\b|UPDATE \S+ SET\b|DELETE FROM\b"
    r"|(CREATE|ALTER|DROP) (TABLE|(UNIQUE )?INDEX|VIEW|TRIGGER)\b|PRAGMA \w|VACUUM\b|WITH \w+ AS\b"
    r"|BEGIN (IMMEDIATE|EXCLUSIVE|DEFERRED)\b)",
    re.DOTALL,
)


def problems(tree: Tree) -> Iterator[Problem]:
    for module in tree.modules:
        if module.path.name == "sql.py" or "database" in module.path.parent.parts:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in _imported(node):
                    if name.split(".")[0] in CLIENTS or f"{name}.".startswith(f"{TABLES}."):
                        yield module.problem(node, f"imports {name}: only SQL needs it")
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and (match := STATEMENT.match(text)):
                yield module.problem(node, f"a statement of SQL: {match[0].strip()[:40]}")


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{name.name}" for name in node.names]
    return [name.name for name in node.names]


def test_sql_stands_where_sql_is_looked_for() -> None:
    hold(problems, "Either move it to the sql.py of its feature, or, for all tables, to database/.")


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("from sqlalchemy import select\n", "imports sqlalchemy.select"),
        ("import sqlite3\n", "imports sqlite3"),
        ("from nemutator_controller.database.schema import history\n", f"imports {TABLES}.history"),
        ("from nemutator_controller.database import schema\n", f"imports {TABLES}"),
        ('x = "SELECT node FROM history"\n', "a statement of SQL: SELECT node FROM history"),
        ('x = f"DELETE FROM {1}"\n', "a statement of SQL: DELETE FROM"),
        ('x = "UPDATE history SET at = 0"\n', "a statement of SQL: UPDATE history SET"),
        ('x = """\n  INSERT OR IGNORE INTO history"""\n', "a statement of SQL: INSERT OR IGNORE"),
        ('x = "CREATE UNIQUE INDEX a ON b"\n', "a statement of SQL: CREATE UNIQUE INDEX"),
        ('x = "PRAGMA journal_mode"\n', "a statement of SQL: PRAGMA j"),
    ],
)
def test_sql_elsewhere_is_named(tmp_path: Path, source: str, what: str) -> None:
    path = "controller/nemutator_controller/usage/{}.py"
    (found,) = broken(problems, planted(tmp_path / "a", {path.format("curves"): source}))
    assert found.startswith(f"{path.format('curves')}:1: {what}")
    assert broken(problems, planted(tmp_path / "b", {path.format("sql"): source})) == []


def test_a_sentence_is_no_statement(tmp_path: Path) -> None:
    source = '"""Select a node from the list."""\nx = "update the list"\n'
    tree = planted(tmp_path, {"controller/nemutator_controller/usage/curves.py": source})
    assert broken(problems, tree) == []


def test_where_sql_is_looked_for_it_is(tmp_path: Path) -> None:
    folder = "controller/nemutator_controller/database"
    tree = planted(tmp_path, {f"{folder}/sqlite.py": "import sqlite3\n"})
    assert broken(problems, tree) == []
