from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.windows import WindowPause
from nemutator_controller.ageing.busiest import Busiest
from nemutator_controller.ageing.documents import busiest_document, item_document, list_document
from nemutator_ctl.ageing.view import (
    chosen,
    decode,
    decode_one,
    decode_pauses,
    details,
    others,
    overview,
)

from tests.controller.ageing.test_findings import finding
from tests.fakes.ageing import FRAMES, SHOP, kept_windows, window_source


def listing(**changed: Any) -> Any:
    found = msgspec.json.decode(msgspec.json.encode(list_document([replace(finding(), points=())])))
    found["items"][0] |= changed
    return found


def test_a_leak_is_a_row_with_its_rate_and_its_line() -> None:
    row = overview(decode(listing())).splitlines()[1]
    assert "leak (provisional)" in row
    assert "shop/web shop" in row
    assert "5.0 MB/min" in row
    assert "main.remember main.go:84" in row


def test_a_node_that_has_stopped_looking_is_told_with_its_remedy() -> None:
    pause = WindowPause(
        node="n1", at=1.0, paused=True, reason="cpu", why="it takes too much", remedy="wait\x1b[2J"
    )
    document = msgspec.json.decode(msgspec.json.encode(list_document([], [pause])))
    told = overview(decode(document), decode_pauses(document)).splitlines()
    assert told[-2] == "Unasked looks wait on n1: it takes too much"
    assert told[-1].startswith("  remedy: wait")
    assert "\x1b" not in told[-1]


def test_nothing_is_explained() -> None:
    assert "No process was looked at yet" in overview(())


def test_one_is_found_by_what_people_call_it() -> None:
    found = decode(listing())
    for name in (SHOP.id, "shop", "web"):
        assert chosen(found, name) == found[0]
    assert chosen(found, "bank") is None


def test_who_meant_another_one_of_that_name_is_told_of_it() -> None:
    [one] = decode(listing())
    assert others([one], "shop") == ""
    other = replace(one, workload=replace(one.workload, owner="w\x1beb2"))
    told = others([one, *[other] * 6], "shop")
    assert told.startswith("\nalso called shop: 'shop/w\\x1beb2 shop', ")
    assert told.endswith(" and 1 more\n")
    assert others([one, other], one.workload.owner) == ""


def test_one_is_shown_with_its_numbers_and_its_stack() -> None:
    windows = {window_source(): kept_windows(10, grows_by=5)}
    cpu = busiest_document(Busiest(200, 2, (("leaky", 150),)), FRAMES, seconds=86_400)
    document = msgspec.json.decode(msgspec.json.encode(item_document(finding(), windows, cpu)))
    text = details(decode_one(document))
    assert text.startswith("shop: leak (provisional): heap grows since its start, 5.0 MB/min")
    assert "100% of the growth, keeps 50% of what it takes" in text
    assert "  main.remember  /src/main.go:84\n" in text
    assert "CPU time   by 200 samples of the last 24 h, of all processes:\n" in text
    assert "  75.0%  main.remember main.go:84\n" in text
    assert "\nload " not in text
    document["load"] = "allocations"
    assert "load       known by its allocations\n" in details(decode_one(document))


def test_a_hot_spot_is_shown_by_its_share() -> None:
    spot = {"function": "main.parse", "file": "", "line": 0, "share_before": 0.1, "share_now": 0.4}
    document = listing(
        verdict="hot spot grew", measure="cpu", rate="", first_level=10.0, last_level=40.0
    )["items"][0] | {"functions": [spot]}
    text = details(decode_one(document))
    assert "from 10.0 to 40.0 % of CPU time" in text


@pytest.mark.parametrize("wrong", [{"verdict": 5}, {"p": 1e300}, {"sites": [{}]}])
def test_an_answer_of_another_shape_is_one_message(wrong: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match="not understood"):
        decode(listing(**wrong))


def test_names_do_not_draw_on_the_terminal() -> None:
    hostile = listing(sentence="\x1b[2Jshop")["items"][0]
    assert "\x1b" not in details(decode_one(hostile))
