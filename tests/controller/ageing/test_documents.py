from nemutator_controller.ageing.documents import (
    finding_document,
    graph_points,
    item_document,
    list_document,
)

from tests.controller.ageing.test_findings import finding
from tests.fakes.ageing import SHOP, kept_windows, window_source


def test_a_list_has_points_and_an_item_has_series() -> None:
    windows = {window_source(): kept_windows(500, grows_by=1)}
    points = {SHOP.id: graph_points("heap", windows)}
    (item,) = list_document([finding()], points)["items"]
    assert item["id"] == SHOP.id
    assert 100 <= len(item["points"]) <= 121
    assert item["points"][0][1] < item["points"][-1][1]
    shown = item_document(finding(), windows)
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
    assert graph_points("heap", {}) == ()
