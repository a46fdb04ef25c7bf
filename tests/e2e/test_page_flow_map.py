"""The map of who talks to whom."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.accessibility import SCHEMES, Scheme, complaints
from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json
from tests.fakes.console_inventory import flow

EVIL = '"><img src=x>\u202e'


def end(name: str, **changed: Any) -> Json:
    return {
        "kind": "Pod",
        "namespace": "shop",
        "name": f"{name}-0",
        "owner_kind": "Deployment",
        "owner": name,
        "address": "10.0.0.1",
        **changed,
    }


def talk(caller: str, called: str, *, sent: float = 100.0, direction: str = "out") -> Json:
    ends = [end(caller), end(called)]
    pod, peer = ends if direction == "out" else ends[::-1]
    return flow(pod=pod, peer=peer, direction=direction, sent=sent, received=0.0)


def test_what_both_ends_tell_of_is_counted_once(modules: Modules) -> None:
    told = [talk("web", "api"), talk("web", "api", direction="in"), talk("web", "api")]
    graph = modules.run("flowmap", "m.graphOf(a)", *told)
    assert [node["text"] for node in graph["nodes"]] == ["shop/web", "shop/api"]
    assert [edge["rate"] for edge in graph["edges"]] == [200.0]


def test_callers_are_to_the_left_of_whom_they_call(modules: Modules) -> None:
    pairs = [("web", "api"), ("api", "db"), ("web", "cache"), ("api", "cache"), ("db", "db")]
    found = modules.run("flowmap", "m.map(a)", *(talk(*pair) for pair in pairs))
    at = {box["text"]: box["x"] for box in found["boxes"]}
    assert at["shop/web"] < at["shop/api"] < at["shop/db"] == at["shop/cache"]
    assert len(found["lines"]) == 4


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40))
@settings(max_examples=15)
def test_every_box_has_a_place_of_its_own_whoever_calls_whom(
    modules: Modules, pairs: list[tuple[int, int]]
) -> None:
    found = modules.run("flowmap", "m.map(a)", *(talk(f"s{a}", f"s{b}") for a, b in pairs))
    names = {name for pair in pairs if pair[0] != pair[1] for name in pair}
    if not names:
        assert found is None
        return
    boxes = found["boxes"]
    assert len({box["key"] for box in boxes}) == len(names) == len(boxes)
    assert len(found["lines"]) == len({pair for pair in pairs if pair[0] != pair[1]})
    for one, other in itertools.combinations(boxes, 2):
        apart = one["x"] != other["x"] or abs(one["y"] - other["y"]) >= one["height"]
        assert apart, (one, other)
    for box in boxes:
        assert 0 <= box["x"] <= found["width"] - box["width"]
        assert 0 <= box["y"] <= found["height"] - box["height"]


def test_of_a_crowd_the_busiest_are_drawn(modules: Modules) -> None:
    told = [talk("hub", f"leaf{n}", sent=float(n)) for n in range(200)]
    found = modules.run("flowmap", "m.map(a)", *told)
    assert len(found["boxes"]) == 60
    assert {"shop/hub", "shop/leaf199"} <= {box["text"] for box in found["boxes"]}
    assert "141 boxes with less traffic are left out" in found["words"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_map_shows_what_the_filter_leaves(
    page: Page, context: BrowserContext, scheme: Scheme
) -> None:
    told = [talk("web", "api"), talk("api", "db"), talk(EVIL, "db")]
    FakeBrain(lists={"/api/v1/flows": told}).serve(context)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{ORIGIN}/#flows")
    boxes = page.locator("#map-boxes g")
    expect(boxes).to_have_count(4)
    expect(page.locator("#map img")).to_have_count(0)
    assert complaints(page) == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#list-filter").fill("web")
    expect(boxes).to_have_count(2)
    page.goto(f"{ORIGIN}/#leases")
    expect(page.locator("#map")).to_be_hidden()
