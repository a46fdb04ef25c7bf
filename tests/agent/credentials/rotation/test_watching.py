import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from nemutator_agent.credentials.http_refusals import too_many
from nemutator_agent.credentials.rotation.watching import ChangeFeed, watch
from nemutator_agent.identity.failures import AttestationError

from tests.fakes.clocks import ManualClock

SOON_S = 0.01


class Caller:
    def __init__(self, *hidden: str) -> None:
        self.hidden = hidden
        self.refused: Exception | None = None

    def may_watch(self, name: str) -> bool:
        return name not in self.hidden

    def admit(self) -> "Caller":
        if self.refused is not None:
            raise self.refused
        return self


def feed(*, sign_of_life_s: float = 60.0) -> ChangeFeed:
    return ChangeFeed(ManualClock(now=7.0), sign_of_life_s=sign_of_life_s)


async def read(lines: AsyncGenerator[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await anext(lines)).splitlines()]


async def test_a_change_wakes_the_watcher() -> None:
    changes = feed()
    lines = watch(changes, Caller().admit, None)
    assert await read(lines) == [{"sequence": 7000}]
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(read(lines))
        await asyncio.sleep(0)
        changes.announce("db", 3)
    assert waiting.result() == [{"name": "db", "version": 3, "sequence": 7001}]


async def test_who_comes_back_hears_what_came_meanwhile() -> None:
    changes = feed()
    for name in ("a", "b", "a"):
        changes.announce(name, None)
    lines = watch(changes, Caller().admit, 7001)
    assert await read(lines) == [{"sequence": 7001}]
    assert [line["name"] for line in await read(lines)] == ["b", "a"]


async def test_who_comes_from_another_run_is_told_to_read_again() -> None:
    changes = feed()
    changes.announce("a", 1)
    for unknown in (6999, 7002):
        lines = watch(changes, Caller().admit, unknown)
        assert await read(lines) == [{"missed": True, "sequence": 7001}]
        changes.announce("a", 2)
        assert [line["name"] for line in await read(lines)] == ["a"]
        changes = feed()
        changes.announce("a", 1)


async def test_a_caller_does_not_hear_of_what_it_may_not_have() -> None:
    changes = feed()
    lines = watch(changes, Caller("b").admit, None)
    await read(lines)
    changes.announce("b", 1)
    assert await read(lines) == [{"sequence": 7001}]
    changes.announce("a", 1)
    changes.announce("b", 2)
    assert [line.get("name") for line in await read(lines)] == ["a"]


async def test_when_nothing_changes_there_is_a_sign_of_life() -> None:
    lines = watch(feed(sign_of_life_s=SOON_S), Caller().admit, None)
    for _ in range(3):
        assert await read(lines) == [{"sequence": 7000}]


async def test_a_caller_who_is_not_let_in_any_more_learns_why_and_hears_no_more() -> None:
    for refused, step in (
        (AttestationError("alive", "the process has ended"), "alive"),
        (too_many(), "rate"),
    ):
        changes, caller = feed(), Caller()
        lines = watch(changes, caller.admit, None)
        await read(lines)
        caller.refused = refused
        changes.announce("db", 1)
        (last,) = await read(lines)
        assert last["step"] == step
        assert last["remedy"]
        assert [line async for line in lines] == []
