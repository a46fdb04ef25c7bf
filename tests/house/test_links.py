"""Links between our documents lead to something, and the site of docs/ leaves no page out."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.house.tree import REPOSITORY, Problem, Tree, broken, hold, planted

LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^\s*```")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a document that are no code."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


@functools.cache
def anchors(path: Path) -> set[str]:
    """Those of a document's headings, as GitHub and the site make them."""
    headings = (re.match(r"#+ (.*)", line) for _, line in lines(path))
    return {slug(each[1]) for each in headings if each}


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def problems(tree: Tree) -> Iterator[Problem]:
    for name in tree.files:
        if name.suffix != ".md":
            continue
        path = tree.root / name
        for number, line in lines(path):
            for target, anchor in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                file = (path.parent / target) if target else path
                if not file.exists():
                    yield Problem(name, number, f"there is no {target}")
                elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                    yield Problem(name, number, f"{target or name} has no heading #{anchor}")


def test_links_of_the_documents_lead_to_something() -> None:
    hold(problems, "Name the file and the heading as they are now.")


def pages(menu: object) -> Iterator[str]:
    if isinstance(menu, str):
        yield menu
    for each in menu if isinstance(menu, list) else menu.values() if isinstance(menu, dict) else ():
        yield from pages(each)


def test_the_menu_of_the_site_has_every_page_once() -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text()
    menu = yaml.safe_load(text[text.index("\nnav:") :])
    written = sorted(path.name for path in (REPOSITORY / "docs").glob("*.md"))
    assert sorted(pages(menu)) == written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[x](docs/away.md)", "README.md:1: there is no docs/away.md"),
        ("[x](docs/a.md#gone)", "README.md:1: docs/a.md has no heading #gone"),
        ("[x](#gone)", "README.md:1: README.md has no heading #gone"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, text: str, why: str) -> None:
    (found,) = broken(problems, planted(tmp_path, {"README.md": text, "docs/a.md": "# Here"}))
    assert found.startswith(why)


@pytest.mark.parametrize(
    "text",
    [
        "[x](docs/a.md#its-own-way-there)",
        "[x](https://example.com/away#gone)",
        "```\n[x](away.md)\n```",
        "the type `list[x](away)`",
    ],
)
def test_what_leads_somewhere_or_is_no_link_passes(tmp_path: Path, text: str) -> None:
    files = {"README.md": text, "docs/a.md": "# Here\n## Its own `way`, there!"}
    assert not broken(problems, planted(tmp_path, files))
