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


def copied(target: Path, *names: str) -> Path:
    """A copy of our sources, to be broken."""
    for name in (*names, "pyproject.toml", "README.md"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(
                source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.sock")
            )
        else:
            shutil.copy(source, target / name)
    return target


# Each file breaks one rule, and each tool runs once over all of them.
BROKEN_STYLE = {
    "supervised.py": (f"import asyncio\n\n{SUPERVISED}\n", "TID251"),
    "gathered.py": ("import asyncio\n\nasyncio.gather()\n", "TID251"),
    "mocked.py": ("from unittest import mock\n", "TID251"),
    "relative.py": ("from . import names\n", "TID252"),
    "printed.py": ("print('x')\n", "T201"),
    "formatted.py": ("import logging\n\nlogging.info(f'{1}')\n", "G004"),
    "logging.py": ("x = 1\n", "A005"),  # a module named like the standard library's
}


@pytest.fixture(scope="module")
def style_told(tmp_path_factory: pytest.TempPathFactory) -> str:
    tree = tmp_path_factory.mktemp("style")
    shutil.copy(REPOSITORY / "pyproject.toml", tree)
    package = tree / "agent/nemutator_agent"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, (source, _) in BROKEN_STYLE.items():
        (package / name).write_text(source)
    ruff = (str(BIN / "ruff"), "check", "--no-cache", "--output-format=concise", "agent")
    return refused(*ruff, within=tree)


@pytest.mark.parametrize("name", BROKEN_STYLE)
def test_ruff_refuses(style_told: str, name: str) -> None:
    _, rule = BROKEN_STYLE[name]
    assert any(f"/{name}:" in line and rule in line for line in style_told.splitlines())


def test_ruff_refuses_another_format(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    (tmp_path / "broken.py").write_text("x = [1,2]\n")
    told = refused(str(BIN / "ruff"), "format", "--no-cache", "--check", within=tmp_path)
    assert "broken.py" in told


@pytest.mark.slow
def test_mypy_refuses_what_has_no_type(tmp_path: Path) -> None:
    broken = copied(tmp_path, "agent", "common") / "agent/nemutator_agent/broken.py"
    broken.write_text("def f(x):\n    return x\n")
    told = refused(str(BIN / "mypy"), "--cache-dir=/dev/null", str(broken), within=tmp_path)
    assert "broken.py:1: error: Function is missing a type annotation" in told


OBSERVE = "agent/nemutator_agent/app/observe.py"
BROKEN_IMPORTS = [
    (OBSERVE, "import nemutator_controller\n", "components"),
    ("common/nemutator_common/secret.py", "import nemutator_agent\n", "components"),
    (
        "agent/nemutator_agent/settings/mount.py",
        "import nemutator_agent.app.observe\n",
        "inside the agent",
    ),
    ("agent/nemutator_agent/stray.py", "x = 1\n", "inside the agent"),
    (OBSERVE, "import uvloop\n", "uvloop only"),
    (OBSERVE, "import sqlalchemy\n", "SQL only"),
    (OBSERVE, "import yaml\n", "PyYAML only"),
    (OBSERVE, "import prometheus_client\n", "prometheus_client only"),
    (OBSERVE, "import opentelemetry\n", "OpenTelemetry only"),
    (OBSERVE, "import kubernetes\n", "the kubernetes package only"),
]


@pytest.fixture(scope="module")
def imports_told(tmp_path_factory: pytest.TempPathFactory) -> str:
    tree = copied(tmp_path_factory.mktemp("imports"), "agent", "common", "controller")
    for path in {path for path, _, _ in BROKEN_IMPORTS}:
        (tree / path).write_text("".join(source for at, source, _ in BROKEN_IMPORTS if at == path))
    # Its own process, so that the copy is imported and not the tree that the tests run in.
    paths = [str(tree / name) for name in ("agent", "common", "controller")]
    program = (
        f"import sys; sys.path[:0] = {paths!r}; from importlinter.cli import lint_imports_command;"
        "lint_imports_command(['--no-cache'])"
    )
    return refused(sys.executable, "-c", program, within=tree)


@pytest.mark.parametrize(("path", "source", "contract"), BROKEN_IMPORTS)
def test_import_linter_refuses(imports_told: str, path: str, source: str, contract: str) -> None:
    summary, _, told = imports_told.partition("Broken contracts")
    line = next(line for line in summary.splitlines() if line.startswith(contract))
    assert "BROKEN" in line
    importer = Path(*Path(path).with_suffix("").parts[1:]).as_posix().replace("/", ".")
    imported = source.removeprefix("import ").strip()
    wanted = f"{importer} -> {imported}" if source.startswith("import") else importer
    assert wanted in told


def test_clang_format_refuses_c_that_is_not_in_the_style(tmp_path: Path) -> None:
    script = str(REPOSITORY / "scripts/c-format")
    empty = subprocess.run([script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert empty.stdout == "no C files yet\n"
    (tmp_path / "broken.c").write_text("int f(void) { return 1; }\n")
    assert "broken.c:1:" in refused(script, str(tmp_path), within=tmp_path)
    subprocess.run([script, "--fix", str(tmp_path)], check=True, capture_output=True)
    assert (tmp_path / "broken.c").read_text() == "int f(void)\n{\n\treturn 1;\n}\n"
