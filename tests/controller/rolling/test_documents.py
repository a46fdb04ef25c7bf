from typing import Any

import msgspec
import pytest
from nemutator_controller.rolling import documents
from nemutator_controller.rolling.documents import InvalidRollError, question

from tests.fakes.rolls import MemoryWorkloads, roll


def body(**fields: Any) -> bytes:
    usual = {"workload": "deployment/web", "namespace": "shop", "reason": "why"}
    return msgspec.json.encode(usual | fields)


def test_a_roll_is_asked_for_as_kubectl_names_workloads() -> None:
    asked = question(body(workload="StatefulSet/db", window="22:00-05:00", deadlineS=60))
    assert str(asked.workload) == "StatefulSet shop/db"
    assert (asked.window, asked.deadline_s, asked.off_peak) == ("22:00-05:00", 60, False)
    assert question(body(offPeak=True)).off_peak
    assert question(documents.EXAMPLE_ROLL.encode()).reason == "why"
    assert question(body(reason="", planOnly=True)).plan_only


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (b"", "truncated"),
        (b"\xff", "malformed"),
        (body(workload="replicaset/log"), "expected deployment"),
        (body(workload="web"), "expected deployment"),
        (body(workload="deployment/a/b"), "expected names"),
        (body(namespace=""), "expected names"),
        (body(reason=" "), "expected why"),
        (body(reason="a\nb"), "characters"),
        (body(deadlineS=1), "deadlineS"),
        (body(window="later"), "window"),
        (body(windows=""), "unknown field"),
    ],
)
def test_what_asks_for_nothing_that_can_be_done_is_explained(asked: bytes, why: str) -> None:
    with pytest.raises(InvalidRollError, match=why):
        question(asked)


async def test_a_plan_shows_the_strategy_now_and_while_it_is_rolled() -> None:
    live = await MemoryWorkloads().get(question(body()).workload)
    shown = documents.planned(live, question(body()))
    assert (shown["replicas"], shown["available"], shown["whyNot"]) == (2, 2, "")
    assert shown["strategy"]["rollingUpdate"]["maxSurge"] == "25%"
    assert shown["slow"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


def test_a_roll_is_shown_with_its_state() -> None:
    shown = documents.shown(roll().then("stopped", why="not ready"))
    assert (shown["state"], shown["open"], shown["why"]) == ("stopped", False, "not ready")
    assert documents.listed([roll()])["items"][0]["workload"] == "Deployment shop/web"
