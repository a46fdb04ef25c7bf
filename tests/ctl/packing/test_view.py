from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.packing.documents import packing_document
from nemutator_controller.packing.model import NodePlan, PlannedMove
from nemutator_ctl.packing.view import decode, overview

from tests.controller.packing.test_plans import pod


def answer(policy: str | None = "night", most: int = 2, moves: int = 5) -> Any:
    planned = tuple(
        PlannedMove(pod(f"p{number}"), "" if number == 1 else "m") for number in range(moves)
    )
    plans = [
        NodePlan(node="low", share=0.1, moves=planned),
        NodePlan(node="kept", share=0.7, why_not="it is cordoned"),
    ]
    document = packing_document(plans, {}, policy=policy, most=most)
    return msgspec.json.decode(msgspec.json.encode(document))


def test_each_node_has_its_state_and_the_reason() -> None:
    lines = overview(decode(answer())).splitlines()
    assert lines[1].split()[:4] == ["low", "10", "%", "possible"]
    assert "shop/p0 to m, shop/p1 gives way, shop/p2 to m and 2 more would have room" in lines[1]
    assert lines[2].endswith(["kept", "it is cordoned"][1])
    assert lines[3] == "SeasonPolicy night packs; brain.packing_nodes allows 2 at once"


def test_why_nothing_is_done_is_said() -> None:
    assert "brain.packing_nodes is 0" in overview(decode(answer(most=0)))
    assert "no SeasonPolicy in force says placement: Pack" in overview(decode(answer("")))


def test_an_empty_node_and_no_node_are_sentences() -> None:
    assert "nothing runs there but what runs on each node" in overview(decode(answer(moves=0)))
    assert overview(decode(answer() | {"items": []})) == "there is no node\n"
    with pytest.raises(OperatorError):
        decode({"items": 1})
