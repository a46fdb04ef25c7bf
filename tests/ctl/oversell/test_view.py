from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.oversell.documents import oversell_document
from nemutator_ctl.oversell.view import decode, overview

from tests.controller.oversell.test_documents import EVERYTHING
from tests.controller.oversell.test_verdicts import verdict


def answer(problem: str = "", most: int = 2, nodes: int = 1) -> Any:
    verdicts = [verdict(), verdict("o", "measuring", 100, used_millis=None, could=None, asked=None)]
    document = oversell_document(
        verdicts[: 2 * nodes], EVERYTHING, most=most, at=1.0, now=2.0, problem=problem
    )
    return msgspec.json.decode(msgspec.json.encode(document))


def test_each_node_has_its_amounts_its_ratios_and_the_reason() -> None:
    head, first, second = overview(decode(answer())).splitlines()
    assert head.split() == ["NODE", "RAW", "REQUESTED", "USED", "ASKED", "COULD", "RATIO", "WHY"]
    assert first.split()[:7] == ["n", "4.00", "3.00", "1.00", "1.50", "1.80", "1.50"]
    assert second.split()[:7] == ["o", "4.00", "3.00", "?", "-", "?", "1.00"]
    assert second.endswith("too little is known of its use")


def test_the_wide_table_says_what_stands_there_and_who_asks() -> None:
    head, first, _ = overview(decode(answer()), wide=True).splitlines()
    assert head.split()[7:] == ["ALLOCATABLE", "WAITING", "STANDS", "POLICY", "WHY"]
    assert first.split()[7:12] == ["6.00", "5", "%", "1.50", "p"]


def test_why_nothing_is_done_is_said() -> None:
    assert overview(decode(answer(most=0))).endswith("brain.oversell_nodes is 0\n")
    assert "nothing is decided now: not listed" in overview(decode(answer("not listed yet")))
    assert overview(decode(answer(nodes=0))) == "there is no node\n"
    with pytest.raises(OperatorError):
        decode({"items": 1})
