"""Pure modules compute, engines wait, edges touch the world: by imports and by what is named.

What a module *needs* is read from its syntax. It may not need more than its kind allows, and a
module that is listed as more than it needs is a lie that the next reader would believe.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.kinds import LISTS, Kind, by_name, kinds, listed
from tests.house.tree import Module, Problem, Tree, broken, hold, planted


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGINE_PACKAGES = {"asyncio"}
EDGE_PACKAGES = _words("""
    _thread aiohttp alembic concurrent ctypes fcntl getpass glob http importlib kubernetes mmap
    multiprocessing opentelemetry platform prometheus_client pty pwd grp queue random resource sched secrets
    select selectors shutil signal socket socketserver sqlalchemy sqlite3 ssl subprocess syslog
    tempfile termios threading urllib uvloop webbrowser
""")
# Packages that the world hides in, with what in them is mere arithmetic.
ARITHMETIC = {
    "os": _words("""
        path.basename path.commonpath path.dirname path.isabs path.join path.normpath path.split
        path.splitext fsdecode fsencode fspath sep strerror PathLike
        WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG waitstatus_to_exitcode
    """),
    "time": _words("gmtime strftime strptime struct_time"),
    "urllib": _words("parse"),
    "http": _words("HTTPStatus"),
    "signal": _words("Signals"),
}
CLOCKS_AND_DICE = _words("""
    datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow datetime.date.today
    uuid.uuid1 uuid.uuid4 sys.argv sys.exit sys.stderr sys.stdin sys.stdout
""")
ASYNCIO_EDGES = _words("""
    asyncio.create_subprocess_exec asyncio.create_subprocess_shell asyncio.open_connection
    asyncio.open_unix_connection asyncio.start_server asyncio.start_unix_server
    asyncio.run asyncio.Runner asyncio.to_thread
""")
BUILTINS = _words("breakpoint input open print")
# Methods that only a path has. Those that other things have too count beside an import of pathlib.
PATH_METHODS = _words("""
    expanduser hardlink_to is_dir is_file is_symlink iterdir lstat mkdir read_bytes read_text
    readlink rglob rmdir samefile symlink_to unlink write_bytes write_text
""")
SHARED_METHODS = _words("absolute chmod exists glob open resolve stat touch")


MEND = """
A module that needs more than its kind: either move what waits or touches the world behind a port
(docs/architecture.md, Laws), or say what it is: by a name (a gerund is an engine; endpoint, sql,
command, files, __main__ and app/ are edges), else by a line in [tool.nemutator] of pyproject.toml.
A module that needs less: either give it the noun that it is, or delete its line.
"""


@dataclass(frozen=True)
class Need:
    node: ast.AST
    kind: Kind
    why: str


def problems(tree: Tree) -> Iterator[Problem]:
    yield from _lists(tree)
    kind_of = kinds(tree)
    for module in tree.modules:
        kind = kind_of[module.name]
        needs = list(_needs(module, kind_of))
        for need in needs:
            if need.kind > kind:
                wanted = need.kind.name.lower()
                yield module.problem(need.node, f"{need.why}: only an {wanted} may")
        if kind > max((need.kind for need in needs), default=Kind.PURE):
            said = "named" if kind is by_name(module) else "listed"
            what = f"{said} as an {kind.name.lower()}, and needs nothing of one"
            yield module.problem(module.syntax, what)


def _lists(tree: Tree) -> Iterator[Problem]:
    """What the lists say is there, is sorted, and is not said by the name already."""
    named = {module.name: by_name(module) for module in tree.modules}
    for key in LISTS:
        names = listed(tree, key)
        if names != sorted(names):
            yield _line(key, "not in alphabetical order")
        for name in sorted({*names} - {*named}):
            yield _line(key, f"there is no module {name}")
        for name in names:
            if named.get(name) is LISTS[key]:
                yield _line(key, f"the name of {name} says it already")


def _line(key: str, what: str) -> Problem:
    return Problem(Path("pyproject.toml"), 1, f"[tool.nemutator] {key}: {what}")


def _needs(module: Module, kind_of: Mapping[str, Kind]) -> Iterator[Need]:
    aliases: dict[str, str] = {}
    typing_only = _type_checking(module)
    for node in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in typing_only:
            for target, alias, meaning in _imported(node):
                aliases[alias] = meaning
                yield from _import_need(node, target, kind_of)
        elif isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield Need(node, Kind.ENGINE, "waits")
    defined = {
        node.id
        for node in module.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {
        node.name
        for node in module.syntax.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    paths = any(target.split(".")[0] == "pathlib" for target in aliases.values())
    for node in module.nodes:
        if isinstance(node, ast.Name) and node.id in BUILTINS - defined - {*aliases}:
            yield Need(node, Kind.EDGE, f"{node.id}()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func.attr
            root = _dotted(node.func)
            ours = root is not None and root.split(".")[0] in aliases
            if method in PATH_METHODS or (paths and method in SHARED_METHODS and not ours):
                yield Need(node, Kind.EDGE, f".{method}()")
        if isinstance(node, ast.Name | ast.Attribute) and (name := _resolved(node, aliases)):
            yield from _name_need(node, name)


def _import_need(node: ast.AST, target: str, kind_of: Mapping[str, Kind]) -> Iterator[Need]:
    top = target.split(".")[0]
    own = target if target in kind_of else target.rpartition(".")[0]
    if own in kind_of:
        yield Need(node, kind_of[own], f"imports {own}")
    elif _is_arithmetic(target):
        return
    elif top in EDGE_PACKAGES and (top not in ARITHMETIC or "." in target):
        yield Need(node, Kind.EDGE, f"imports {target}")
    elif top in ENGINE_PACKAGES:
        yield Need(node, Kind.ENGINE, f"imports {target}")


def _name_need(node: ast.AST, name: str) -> Iterator[Need]:
    top, _, rest = name.partition(".")
    if name in CLOCKS_AND_DICE | ASYNCIO_EDGES:
        yield Need(node, Kind.EDGE, name)
    elif name == "asyncio.sleep":
        yield Need(node, Kind.EDGE, "asyncio.sleep (an engine's time is its Clock)")
    elif top in ARITHMETIC and rest not in {"", "path"} and not _is_arithmetic(name):
        yield Need(node, Kind.EDGE, name)


def _is_arithmetic(name: str) -> bool:
    top, _, rest = name.partition(".")
    allowed = ARITHMETIC.get(top, frozenset())
    return rest in allowed or rest.split(".")[0] in allowed


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str]]:
    """What is imported, the name that is bound by it, and what that name stands for."""
    for name in node.names:
        if isinstance(node, ast.ImportFrom):
            target = f"{node.module}.{name.name}"
            yield target, name.asname or name.name, target
        elif name.asname:
            yield name.name, name.asname, name.name
        else:
            top = name.name.split(".")[0]
            yield name.name, top, top


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (root := _dotted(node.value)):
        return f"{root}.{node.attr}"
    return None


def _resolved(node: ast.expr, aliases: dict[str, str]) -> str | None:
    dotted = _dotted(node)
    if dotted is None:
        return None
    first, _, rest = dotted.partition(".")
    # Only what was imported: a parameter named `time` is not the clock.
    target = aliases.get(first)
    if target is None:
        return None
    return f"{target}.{rest}" if rest else target


def _type_checking(module: Module) -> set[ast.AST]:
    return {
        inner
        for node in module.nodes
        if isinstance(node, ast.If)
        and _dotted(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for inner in ast.walk(node)
    }


def test_every_module_keeps_to_its_kind() -> None:
    hold(problems, MEND)


def test_every_edge_package_that_is_not_ours_to_install_exists() -> None:
    ours = {"aiohttp", "alembic", "kubernetes", "opentelemetry", "prometheus_client", "sqlalchemy"}
    ours |= {"uvloop"}
    assert EDGE_PACKAGES - ours <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import asyncio\n", "imports asyncio"),
        ("async def f(x: object) -> None:\n    await x\n", "waits"),
        ("import random\n", "imports random"),
        ("import secrets\n", "imports secrets"),
        ("import socket\n", "imports socket"),
        ("import subprocess\n", "imports subprocess"),
        ("import aiohttp.web\n", "imports aiohttp.web"),
        ("from aiohttp import web\n", "imports aiohttp.web"),
        ("def f() -> None:\n    import socket\n", "imports socket"),
        ("import time\nnow = time.time\n", "time.time"),
        ("from time import monotonic\nnow = monotonic()\n", "time.monotonic"),
        ("import os\nhome = os.environ['HOME']\n", "os.environ"),
        ("import os as o\nkey = o.urandom(8)\n", "os.urandom"),
        ("import os\nthere = os.path.exists('x')\n", "os.path.exists"),
        ("from datetime import datetime\nnow = datetime.now()\n", "datetime.datetime.now"),
        ("import datetime\nnow = datetime.datetime.now()\n", "datetime.datetime.now"),
        ("import uuid\nid = uuid.uuid4()\n", "uuid.uuid4"),
        ("import urllib.request\n", "imports urllib.request"),
        ("file = open('x')\n", "open()"),
        ("print('x')\n", "print()"),
        ("from pathlib import Path\ntext = Path('x').read_text()\n", ".read_text()"),
        ("from pathlib import Path\nfile = Path('x').open()\n", ".open()"),
        ("import sys\nsys.stdout.write('x')\n", "sys.stdout"),
    ],
)
def test_a_pure_module_may_not(tmp_path: Path, source: str, why: str) -> None:
    tree = planted(tmp_path, {"agent/nemutator_agent/sums.py": source})
    (found, *_) = broken(problems, tree)
    line = source.rstrip().count("\n") + 1
    assert found.startswith(f"agent/nemutator_agent/sums.py:{line}: {why}")


ENGINE = '[tool.nemutator]\nengines = ["nemutator_agent.loop"]\nedges = []\n'


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio\nimport aiohttp\n",
        "import asyncio\nasyncio.open_connection\n",
        "import asyncio\nasyncio.sleep\n",
        "import asyncio\nimport time\ntime.monotonic()\n",
    ],
)
def test_an_engine_may_not(tmp_path: Path, source: str) -> None:
    files = {"pyproject.toml": ENGINE, "agent/nemutator_agent/loop.py": source}
    (found, *_) = broken(problems, planted(tmp_path, files))
    assert found.startswith("agent/nemutator_agent/loop.py:")
    assert found.endswith("only an edge may")


@pytest.mark.parametrize(
    "source",
    [
        "import os\np = os.path.join('a', 'b')\n",
        "import time\ndef f(at: float) -> str:\n    return time.strftime('%Y', time.gmtime(at))\n",
        "from urllib.parse import quote\nfrom http import HTTPStatus\n",
        "def f(time: object) -> object:\n    return time.time()\n",
        "from pathlib import Path\ndef f(p: Path) -> Path:\n    return p / 'x'\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from aiohttp import web\n",
    ],
)
def test_a_pure_module_may(tmp_path: Path, source: str) -> None:
    assert broken(problems, planted(tmp_path, {"agent/nemutator_agent/sums.py": source})) == []


def test_a_pure_module_may_not_lean_on_an_engine_of_ours(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": ENGINE,
        "agent/nemutator_agent/loop.py": "import asyncio\n",
        "agent/nemutator_agent/sums.py": "from nemutator_agent.loop import run\n",
    }
    (found,) = broken(problems, planted(tmp_path, files))
    assert "sums.py:1: imports nemutator_agent.loop: only an engine may" in found


def test_a_listing_that_is_not_needed_or_not_there_is_a_lie(tmp_path: Path) -> None:
    files = {"pyproject.toml": ENGINE, "agent/nemutator_agent/loop.py": "x = 1\n"}
    assert (
        "listed as an engine, and needs nothing"
        in broken(problems, planted(tmp_path / "a", files))[0]
    )
    del files["agent/nemutator_agent/loop.py"]
    assert "there is no module" in broken(problems, planted(tmp_path / "b", files))[0]


WAITS = "async def f(x: object) -> None:\n    await x\n"
ASKS = "import socket\n"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("usage/sampling.py", WAITS),
        ("usage/endpoint.py", ASKS),
        ("usage/sql.py", ASKS),
        ("usage/command.py", ASKS),
        ("usage/files.py", ASKS),
        ("app/observe.py", ASKS),
        ("__main__.py", ASKS),
    ],
)
def test_a_name_says_its_kind(tmp_path: Path, path: str, source: str) -> None:
    assert (
        broken(problems, planted(tmp_path / "a", {f"agent/nemutator_agent/{path}": source})) == []
    )
    (found,) = broken(
        problems, planted(tmp_path / "b", {f"agent/nemutator_agent/{path}": "x = 1\n"})
    )
    assert "named as an e" in found


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ('engines = ["nemutator_agent.sampling"]', "says it already"),
        ('edges = ["nemutator_agent.summing"]', "there is no module"),
    ],
)
def test_a_line_that_the_name_makes_needless_or_wrong_is_named(
    tmp_path: Path, lists: str, why: str
) -> None:
    files = {
        "pyproject.toml": f"[tool.nemutator]\n{lists}\n",
        "agent/nemutator_agent/sampling.py": WAITS,
        "agent/nemutator_agent/sums.py": "x = 1\n",
    }
    (found,) = broken(problems, planted(tmp_path, files))
    assert why in found


def test_a_list_wins_over_the_name(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[tool.nemutator]\nedges = ["nemutator_agent.launching"]\n',
        "agent/nemutator_agent/launching.py": ASKS,
    }
    assert broken(problems, planted(tmp_path, files)) == []
