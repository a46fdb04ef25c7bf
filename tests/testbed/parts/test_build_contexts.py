"""The same files are hashed and built from, and .dockerignore means what it means to docker."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.testbed.parts import build_contexts
from tests.testbed.parts.build_contexts import is_excluded, rules


@pytest.mark.parametrize(
    ("lines", "path", "excluded"),
    [
        ("", "a", False),
        ("# a", "a", False),
        ("a", "a", True),
        ("a", "a/b/c", True),
        ("a", "b/a", False),
        ("/a/", "a/b", True),
        ("./a", "a", True),
        ("**/a", "a", True),
        ("**/a", "b/c/a", True),
        ("**/a", "b/ca", False),
        ("*.pem", "own.pem", True),
        ("*.pem", "deep/own.pem", False),
        ("*/own.pem", "deep/own.pem", True),
        ("**", "any/thing", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("v[0-9]", "v3", True),
        ("v[0-9]", "vx", False),
        ("a.c", "abc", False),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        ("*\n!kept", "kept", False),
        ("*\n!kept", "kept/below", False),
        ("*\n!kept\nkept/own", "kept/own", True),
        ("!kept\n*", "kept", True),
    ],
)
def test_the_last_rule_about_a_path_decides(lines: str, path: str, excluded: bool) -> None:
    assert is_excluded(path, rules(lines)) is excluded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("app")
    (folder / "src" / "app.pyc").write_text("compiled")
    (folder / "run").symlink_to("src/app.py")
    (folder / ".dockerignore").write_text("**/*.pyc\n")
    return folder


def test_a_context_is_all_but_what_is_ignored(folder: Path) -> None:
    found = [str(path) for path in build_contexts.files(folder)]
    assert found == [".dockerignore", "run", "src/app.py"]


def test_a_file_is_taken_back_out_of_a_folder_that_is_left_out(folder: Path) -> None:
    (folder / ".dockerignore").write_text("src\nrun\n.dockerignore\n!src/app.py\n")
    assert build_contexts.files(folder) == [Path("src/app.py")]


def test_the_copy_has_the_same_fingerprint(folder: Path, tmp_path: Path) -> None:
    build_contexts.copy(folder, tmp_path / "copy")
    assert build_contexts.fingerprint(tmp_path / "copy") == build_contexts.fingerprint(folder)
    assert not (tmp_path / "copy/src/app.pyc").exists()
    assert (tmp_path / "copy/run").is_symlink()


def _relink(folder: Path) -> None:
    (folder / "run").unlink()
    (folder / "run").symlink_to("elsewhere")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "src/app.py").write_text("App"),
        lambda folder: (folder / "src/app.py").chmod(0o755),
        lambda folder: (folder / "src/app.py").rename(folder / "src/main.py"),
        lambda folder: (folder / "more").touch(),
        lambda folder: (folder / "src/app.py").unlink(),
        _relink,
    ],
)
def test_any_change_shows(folder: Path, change: Callable[[Path], object]) -> None:
    before = build_contexts.fingerprint(folder)
    change(folder)
    assert build_contexts.fingerprint(folder) != before


def test_a_change_of_what_is_ignored_does_not_show(folder: Path) -> None:
    before = build_contexts.fingerprint(folder)
    (folder / "src" / "app.pyc").write_text("compiled anew")
    (folder / "src" / "app.py").touch()
    assert build_contexts.fingerprint(folder) == before


def test_where_one_file_ends_and_the_next_begins_shows(tmp_path: Path) -> None:
    for name, files in {"one": {"a": "x", "b": ""}, "two": {"a": "", "b": "x"}}.items():
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / file).write_text(content)
    first, second = (build_contexts.fingerprint(tmp_path / name) for name in ("one", "two"))
    assert first != second
