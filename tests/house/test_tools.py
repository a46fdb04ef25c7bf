"""The tools of `make check`, each shown what it must refuse, with the settings that we use."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import REPOSITORY

BIN = Path(sys.executable).parent
SUPERVISED = "asyncio.create_task(asyncio.sleep(1))"


def refused(*command: str, within: Path, by: int = 1) -> str:
    done = subprocess.run(command, cwd=within, capture_output=True, text=True, check=False)
    assert done.returncode == by, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources, to be broken."""
    for name in ("agent", "common", "controller", "pyproject.toml", "README.md"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(
                source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.sock")
            )
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (f"import asyncio\n\n{SUPERVISED}\n", "TID251"),
        ("import asyncio\n\nasyncio.gather()\n", "TID251"),
        ("from unittest import mock\n", "TID251"),
        ("from . import names\n", "TID252"),
        ("print('x')\n", "T201"),
        ("import logging\n\nlogging.info(f'{1}')\n", "G004"),
    ],
)
def test_ruff_refuses(tree: Path, source: str, rule: str) -> None:
    (tree / "agent/nemutator_agent/broken.py").write_text(source)
    told = refused(str(BIN / "ruff"), "check", "--no-cache", "agent", within=tree)
    assert rule in told
    assert "broken.py" in told


def test_ruff_refuses_a_module_named_like_the_standard_library(tree: Path) -> None:
    (tree / "agent/nemutator_agent/logging.py").write_text("x = 1\n")
    assert "A005" in refused(str(BIN / "ruff"), "check", "--no-cache", "agent", within=tree)


def test_ruff_refuses_another_format(tree: Path) -> None:
    (tree / "agent/nemutator_agent/broken.py").write_text("x = [1,2]\n")
    told = refused(str(BIN / "ruff"), "format", "--no-cache", "--check", "agent", within=tree)
    assert "broken.py" in told


@pytest.mark.slow
def test_mypy_refuses_what_has_no_type(tree: Path) -> None:
    broken = tree / "agent/nemutator_agent/broken.py"
    broken.write_text("def f(x):\n    return x\n")
    told = refused(str(BIN / "mypy"), "--cache-dir=/dev/null", str(broken), within=tree)
    assert "broken.py:1: error: Function is missing a type annotation" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "source", "contract"),
    [
        ("agent/nemutator_agent/app/observe.py", "import nemutator_controller\n", "components"),
        ("common/nemutator_common/names.py", "import nemutator_agent\n", "components"),
        (
            "agent/nemutator_agent/settings.py",
            "import nemutator_agent.app.observe\n",
            "inside the agent",
        ),
        ("agent/nemutator_agent/stray.py", "x = 1\n", "inside the agent"),
        ("agent/nemutator_agent/app/observe.py", "import uvloop\n", "uvloop only"),
        ("agent/nemutator_agent/app/observe.py", "import sqlalchemy\n", "SQL only"),
        ("agent/nemutator_agent/app/observe.py", "import yaml\n", "YAML only"),
        (
            "agent/nemutator_agent/app/observe.py",
            "import prometheus_client\n",
            "prometheus_client only",
        ),
        (
            "agent/nemutator_agent/app/observe.py",
            "import kubernetes\n",
            "the kubernetes package only in tests",
        ),
    ],
)
def test_import_linter_refuses(tree: Path, path: str, source: str, contract: str) -> None:
    (tree / path).write_text(source)
    # Its own process, so that the copy is imported and not the tree that the tests run in.
    paths = [str(tree / name) for name in ("agent", "common", "controller")]
    program = (
        f"import sys; sys.path[:0] = {paths!r}; from importlinter.cli import lint_imports_command;"
        "lint_imports_command(['--no-cache'])"
    )
    told = refused(sys.executable, "-c", program, within=tree)
    line = next(line for line in told.splitlines() if line.startswith(contract))
    assert "BROKEN" in line


def test_clang_format_refuses_c_that_is_not_in_the_style(tmp_path: Path) -> None:
    script = str(REPOSITORY / "scripts/c-format")
    empty = subprocess.run([script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert empty.stdout == "no C files yet\n"
    (tmp_path / "broken.c").write_text("int f(void) { return 1; }\n")
    assert "broken.c:1:" in refused(script, str(tmp_path), within=tmp_path)
    subprocess.run([script, "--fix", str(tmp_path)], check=True, capture_output=True)
    assert (tmp_path / "broken.c").read_text() == "int f(void)\n{\n\treturn 1;\n}\n"
