"""What may not be in a committed file: another machine's paths, notes to self, silent exceptions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import Problem, Tree, broken, hold, planted

# Spelled with a class of one letter where the rule would otherwise find itself.
FORBIDDEN = {
    r"(?<![\w.~/-])/(work|root|Users|home/[a-z]\w*)/[\w.]": "an absolute path of one machine",
    r"\.\./share[d]": "points outside the repository",
    r"pypi\.or[g]|pythonhosted\.or[g]|proxy\.golang\.or[g]|registry\.npmj[s]|deb\.debian\.or[g]": (
        "names the host of a package registry"
    ),
    r"\b(TOD[O]|FIXM[E]|XX[X])\b": "a note to self: do it, or write an issue",
    r"#[ \t]*type:[ \t]*ignore(?!\[)": "an ignored error without its code",
    r"#[ \t]*noqa(?!:)": "an ignored rule without its code",
}
# What is taken from elsewhere as it is, and what is made by a tool.
EXEMPT = ("LICENSE", "requirements/", "tests/golden/")
TEXT = {
    ".py",
    ".md",
    ".toml",
    ".sh",
    ".js",
    ".css",
    ".html",
    ".c",
    ".h",
    ".txt",
    ".ini",
    ".mako",
    "",
}


def problems(tree: Tree) -> Iterator[Problem]:
    for path in tree.files:
        if path.suffix not in TEXT or path.as_posix().startswith(EXEMPT):
            continue
        text = (tree.root / path).read_text()
        for pattern, what in FORBIDDEN.items():
            for match in re.finditer(pattern, text):
                number = text.count("\n", 0, match.start()) + 1
                yield Problem(path, number, f"{what}: {match[0]}")


def silent_skips(tree: Tree) -> Iterator[Problem]:
    for module in tree.tests:
        if not re.search(r"\.(skip|skipif|xfail)\b", module.text):
            continue  # to parse a file takes a hundred times as long
        for node in module.nodes:
            dotted = isinstance(node, ast.Attribute) and node.attr == "skip"
            if dotted and ast.unparse(node) == "pytest.mark.skip":
                yield module.problem(node, "skips always: delete it, or pytest.skip with a reason")
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                reasons = {keyword.arg for keyword in node.keywords}
                bare = name == "pytest.skip" and not node.args and "reason" not in reasons
                if bare or (name.endswith((".skipif", ".xfail")) and "reason" not in reasons):
                    yield module.problem(node, f"{name} without a reason")


def test_nothing_is_left_behind() -> None:
    hold(
        problems,
        "Either say it without that, or, for a file that is taken over as it is, add it to EXEMPT.",
    )


def test_no_test_is_skipped_without_a_reason() -> None:
    hold(silent_skips, "Either give the reason, or delete the test.")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/ro" + "ot/.cache", "an absolute path of one machine"),
        ("see ../sha" + "red/design.md", "points outside the repository"),
        ("https://pypi.or" + "g/simple", "names the host of a package registry"),
        ("# TO" + "DO: later", "a note to self"),
        ("x = f()  # type: ign" + "ore", "an ignored error without its code"),
        ("x = f()  # no" + "qa", "an ignored rule without its code"),
    ],
)
def test_what_is_left_behind_is_named(tmp_path: Path, text: str, what: str) -> None:
    (found,) = broken(problems, planted(tmp_path, {"docs/page.md": f"fine\n{text}\n"}))
    assert found.startswith(f"docs/page.md:2: {what}")


@pytest.mark.parametrize(
    "source",
    ["@pytest.mark.skip\ndef test_x(): ...\n", "pytest.skip()\n", "pytest.mark.skipif(True)\n"],
)
def test_a_silent_skip_is_named(tmp_path: Path, source: str) -> None:
    found = broken(silent_skips, planted(tmp_path, {"tests/test_x.py": source}))
    assert found[0].startswith("tests/test_x.py:1: ")
