"""What the documents say is so: tables are complete, and commands exist."""

import contextlib
import functools
import io
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_ctl.__main__ import main as nemutator

from scripts import open_api, reference
from tests.house.tree import Problem, Tree, broken, hold, planted

PAGES = ("README.md", "CONTRIBUTING.md", "docs/")
ELSEWHERE = {"cd", "curl", "docker", "git", "helm", "kubectl", "sudo", "vault"}
"""Commands that are no concern of ours to prove."""


def commands(tree: Tree) -> Iterator[tuple[Path, int, list[str]]]:
    """Every command in the `sh` blocks; a prompt, a comment and a variable in front are no part."""
    for path in tree.files:
        if path.suffix != ".md" or not path.as_posix().startswith(PAGES):
            continue
        inside = False
        for number, line in enumerate((tree.root / path).read_text().splitlines(), start=1):
            if line.strip().startswith("```"):
                inside = line.strip() == "```sh"
            elif inside:
                for part in re.split(r"&&|;|\|", line.strip().removeprefix("$ ")):
                    words = shlex.split(part, comments=True)
                    while words and re.match(r"[A-Z_]+=", words[0]):
                        words.pop(0)
                    if words:
                        yield path, number, words


def problems(tree: Tree) -> Iterator[Problem]:
    makefile = (tree.root / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.MULTILINE))
    for path, number, (program, *rest) in commands(tree):
        if program == "make":
            unknown = [word for word in rest if "=" not in word and word not in targets]
            why = f"make has no target {', '.join(unknown)}" if unknown else None
        elif program.startswith(("scripts/", ".ci/", "./")):
            why = None if (tree.root / program).is_file() else f"there is no {program}"
        elif Path(program).name == "nemutator":
            why = _not_understood(rest)
        else:
            why = None if program in ELSEWHERE else f"what is {program}? (tests/house/test_docs.py)"
        if why:
            yield Problem(path, number, why)


def _not_understood(words: list[str]) -> str | None:
    """Asks the command itself: what is in its `--help` is understood."""
    # Up to the first flag: `secret set` has options of its own.
    command = tuple(itertools.takewhile(lambda word: not word.startswith("-"), words))
    helped = _help_of(command)
    if helped is None:
        return f"nemutator has no command {' '.join(command)}"
    flags = [word.split("=")[0] for word in words if word.startswith("-")]
    unknown = [flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", helped)]
    return f"nemutator {' '.join(command)} has no {', '.join(unknown)}" if unknown else None


@functools.cache
def _help_of(command: tuple[str, ...]) -> str | None:
    """What `nemutator COMMAND --help` prints; nothing where there is no such command."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = nemutator([*command, "--help"])
        except SystemExit as left:  # as argparse leaves once it has printed
            code = int(left.code or 0)
    return printed.getvalue() if code == 0 else None


def test_the_commands_of_the_documents_exist() -> None:
    hold(problems, "Either correct the command in the document, or build what it promises.")


def test_the_reference_is_complete_and_up_to_date() -> None:
    assert reference.TARGET.read_text() == reference.render(), "make fmt writes it anew"


def test_the_document_of_the_api_is_up_to_date() -> None:
    assert open_api.TARGET.read_text() == open_api.render(), "make fmt writes it anew"


def test_every_role_is_in_the_reference() -> None:
    assert [schema.role for schema in reference.schemas()] == list(names.ROLES)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("make fly", "make has no target fly"),
        ("git pull && make test fly", "make has no target fly"),
        ("scripts/fly", "there is no scripts/fly"),
        ("nemutator fly", "nemutator has no command fly"),
        ("nemutator version --fly", "nemutator version has no --fly"),
        ("nemutator secret fly", "nemutator has no command secret fly"),
        ("nemutator secret set db --fly", "nemutator secret set db has no --fly"),
        ("fly", "what is fly?"),
    ],
)
def test_a_command_that_does_not_exist_is_named(tmp_path: Path, command: str, why: str) -> None:
    files = {"Makefile": "test:\n", "README.md": f"# x\n```sh\n$ {command}\n```\n"}
    (found,) = broken(problems, planted(tmp_path, files))
    assert found.startswith(f"README.md:3: {why}")
