from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.rolling import documents
from nemutator_ctl.roll.view import (
    decode_plan,
    decode_roll,
    decode_rolls,
    plan_view,
    roll_view,
    rolls_view,
)

from tests.fakes.rolls import MemoryWorkloads, roll


def travelled(document: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(document))


async def planned(workloads: MemoryWorkloads, window: str = "", **more: Any) -> Any:
    asked = documents.question(
        msgspec.json.encode(
            {"workload": "deployment/web", "namespace": "shop", "planOnly": True, "window": window}
            | more
        )
    )
    live = await workloads.get(asked.workload)
    return decode_plan(travelled(documents.planned(live, asked)))


async def test_a_plan_shows_how_and_what_to_mind() -> None:
    text = plan_view(await planned(MemoryWorkloads(), "22:00-05:00"))
    assert text.startswith("Deployment shop/web: 2 pods, one after another, 22:00-05:00 UTC\n")
    assert "not available within 300 s" in text
    text = plan_view(await planned(MemoryWorkloads(), "22:00-05:00", offPeak=True))
    assert "one after another, 22:00-05:00 UTC, off-peak\n" in text
    assert "nothing serves" in plan_view(await planned(MemoryWorkloads(replicas=1)))
    failing = MemoryWorkloads()
    failing.controller(updated=2, available=1)
    assert "only 1 of them" in plan_view(await planned(failing))


async def test_a_plan_says_why_there_is_none() -> None:
    paused = MemoryWorkloads()
    paused.spec["paused"] = True
    text = plan_view(await planned(paused))
    assert text.startswith("Deployment shop/web is not rolled: it is paused")


def test_a_roll_shows_its_state_and_why() -> None:
    shown = decode_roll(travelled(documents.shown(roll().then("stopped", why="no\x1b"))))
    assert "\x1b" not in roll_view(shown)
    assert roll_view(shown).startswith("r1: Deployment shop/web, for anna: new node\n  stopped: no")


def test_rolls_are_a_table() -> None:
    assert rolls_view(()) == "nobody has asked for a roll\n"
    listed = decode_rolls(travelled(documents.listed([roll()])))
    assert "r1   1970-01-01 00:00:00Z   Deployment shop/web   waiting   anna   new node" in (
        rolls_view(listed)
    )


def test_another_answer_is_not_understood() -> None:
    with pytest.raises(OperatorError, match="not understood"):
        decode_roll({"id": 1})
