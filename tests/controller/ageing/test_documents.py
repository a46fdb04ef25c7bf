from dataclasses import replace

from nemutator_controller.ageing.busiest import Busiest
from nemutator_controller.ageing.documents import (
    MOST_GRAPHS,
    busiest_document,
    finding_document,
    item_document,
    list_document,
)
from nemutator_controller.ageing.graphs import graph_points

from tests.controller.ageing.test_findings import finding
from tests.fakes.ageing import FRAMES, SHOP, kept_windows, window_source


def test_a_list_has_points_and_an_item_has_series() -> None:
    windows = {window_source(): kept_windows(500, grows_by=1)}
    grown = replace(finding(), points=graph_points("heap", windows))
    item = list_document([grown])["items"][0]
    assert item["id"] == SHOP.id
    assert 100 <= len(item["points"]) <= 121
    assert item["points"][0][1] < item["points"][-1][1]
    cpu = Busiest(samples=200, windows=2, functions=(("calm", 150), ("unknown", 20)))
    shown = item_document(grown, windows, busiest_document(cpu, FRAMES, seconds=60))
    assert shown["busiest"] == {
        "seconds": 60,
        "windows": 2,
        "samples": 200,
        "functions": [
            {"function": "main.cache", "file": "/src/cache.go", "line": 7, "share": 0.75},
            {"function": "a function without a name", "file": "", "line": 0, "share": 0.1},
        ],
    }
    assert "points" not in shown
    (series,) = shown["series"]
    assert series["heap"] == item["points"]
    assert shown["stack"][1] == ["main.remember", "/src/main.go", 84] or shown["stack"][1] == (
        "main.remember",
        "/src/main.go",
        84,
    )


def test_what_is_ours_alone_is_not_shown() -> None:
    document = finding_document(finding(grows_by=0))
    assert "told" not in document
    assert (document["rate"], document["stack"]) == ("", [])


def test_only_the_first_of_a_long_list_have_graphs() -> None:
    items = list_document([finding()] * (MOST_GRAPHS + 1))["items"]
    assert [len(one["points"]) for one in items[-2:]] == [10, 0]
