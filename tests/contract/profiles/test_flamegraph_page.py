"""The page as text: what a stranger's names can do to it."""

import dataclasses
import html.parser
import json

import pytest
from nemutator_common.profiles.flamegraph import CONTENT_SECURITY_POLICY, LARGEST, render
from nemutator_common.profiles.model import Frame

from tests.common.profiles.made import small

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\u2028\u2029\"'`&lt;",
    "@SCRIPT@ @DATA@ @TITLE@",
    "]]>\\u003c\0",
]


class Page(html.parser.HTMLParser):
    """Elements with their attributes, and the text of each script, style and title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[self._inside][-1] += data


PLAIN = Page(render(small(), title="cart"))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_data(name: str) -> None:
    profile = dataclasses.replace(
        small(),
        frames=tuple(Frame(name, name, kind=one.kind) for one in small().frames),
        notes=(name,),
        labels={"pod": name},
    )
    page = Page(render(profile, title=name))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in PLAIN.elements]
    data = json.loads(page.texts["script"][0])
    assert set(data["strings"]) == {"all", name, ""}
    assert (data["title"], data["notes"], data["labels"]) == (name, [name], {"pod": name})
    assert page.texts["script"][1] == PLAIN.texts["script"][1]


def test_nothing_is_fetched_and_the_policy_is_said_twice() -> None:
    for _, attributes in PLAIN.elements:
        assert not {"src", "href", "srcset", "style", "onclick", "onload"} & set(attributes)
    (policy,) = [
        attributes["content"]
        for tag, attributes in PLAIN.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert CONTENT_SECURITY_POLICY.startswith(policy or "nothing")
    assert "unsafe" not in CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("name", ["", HOSTILE[0], "\u2028" * 300])
def test_no_profile_makes_a_page_too_large_to_open(name: str) -> None:
    width, depth = 400, 40
    frames = tuple(
        Frame(f"f{number}{name}", f"/src/{number:040}.go") for number in range(width * depth)
    )
    stacks = tuple(
        (tuple(range(one * depth, (one + 1) * depth)), 1_000 + one) for one in range(width)
    )
    samples = sum(count for _, count in stacks)
    profile = dataclasses.replace(
        small(),
        frames=frames,
        stacks=stacks,
        recorded=samples,
        notes=(name * 100,) * 300,
        labels={f"{number}{name * 100}": name * 100 for number in range(300)},
    )
    text = render(profile, title=name * 100)
    assert len(text.encode()) <= LARGEST
    data = json.loads(Page(text).texts["script"][0])
    assert data["samples"][0] == samples
    assert data["leftOut"] > 0
    assert data["notes"][-1] == "250 more notes are left out."
    # What there is fills it.
    assert len(data["depth"]) > (5_000 if len(name) < 20 else 20)


def test_the_account_is_on_the_page() -> None:
    data = json.loads(PLAIN.texts["script"][0])
    assert (data["hz"], data["seconds"], data["recorded"]) == (100, 10.0, 10)
    assert data["lost"] == {"truncated": 2}
    assert (data["cpuSeconds"], data["sampledCpuSeconds"]) == (0.125, 0.12)
