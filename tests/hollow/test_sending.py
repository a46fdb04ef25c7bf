import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import (
    AlreadyExistsError,
    ForbiddenError,
    KubeError,
    TooManyRequestsError,
    UnavailableError,
)

from tests.fakes.scripted_kube import EagerClock, ScriptedTransport
from tests.hollow.sending import TRIES, Sender

CREATE = Call(
    verb="create", method="POST", path="/pods", asked="create pods in namespace team (web)"
)


def sender(*script: bytes | KubeError, clock: EagerClock | None = None) -> Sender:
    transport = ScriptedTransport(*script)
    return Sender(transport, clock or EagerClock(), roll=lambda: 0.0, at_once=3)


async def test_what_is_written_is_counted_by_verb_and_resource() -> None:
    ours = sender(b"{}", b"{}")
    assert await ours.send(CREATE) == b"{}"
    await ours.send(CREATE)
    assert ours.tally.written == {"create pods": 2}
    assert str(ours.tally) == "create pods 2"


async def test_a_busy_server_is_given_the_time_that_it_asks_for() -> None:
    clock = EagerClock()
    busy = TooManyRequestsError("create pods", "429", retry_after_s=7.0)
    ours = sender(busy, b"{}", clock=clock)
    await ours.send(CREATE)
    assert clock.slept == [7.0]
    assert ours.tally.postponed == {"create pods": 1}
    assert ours.tally.written == {"create pods": 1}


async def test_waits_grow_while_the_server_is_away() -> None:
    clock = EagerClock()
    away = UnavailableError("create pods", "connection refused")
    ours = sender(away, away, away, b"{}", clock=clock)
    await ours.send(CREATE)
    assert clock.slept == sorted(clock.slept)
    assert len(set(clock.slept)) == 3
    assert ours.tally.repeated == {"create pods": 3}


async def test_a_server_that_stays_away_is_a_refusal_with_its_reason() -> None:
    ours = sender(*[UnavailableError("create pods", "connection refused")] * TRIES)
    with pytest.raises(UnavailableError):
        await ours.send(CREATE)
    assert ours.tally.refused == {"create pods": 1}
    assert ours.tally.reasons == {"create pods": "create pods: connection refused"}
    assert not ours.tally.written


async def test_a_definite_refusal_is_not_tried_again() -> None:
    clock = EagerClock()
    ours = sender(ForbiddenError("create pods", "403 no"), b"{}", clock=clock)
    with pytest.raises(ForbiddenError):
        await ours.send(CREATE)
    assert clock.slept == []
    assert "REFUSED create pods 1" in str(ours.tally)


async def test_an_error_that_says_it_is_done_counts_as_written() -> None:
    ours = sender(AlreadyExistsError("create pods", "409 exists"))
    with pytest.raises(AlreadyExistsError):
        await ours.send(CREATE, done_by=(AlreadyExistsError,))
    assert ours.tally.written == {"create pods": 1}
    assert not ours.tally.refused


async def test_one_that_is_refused_does_not_hold_up_the_others() -> None:
    ours = sender(b"{}", ForbiddenError("create pods", "403 no"), b"{}")
    await ours.each(range(3), lambda _: ours.send(CREATE))
    assert ours.tally.written == {"create pods": 2}
    assert ours.tally.refused == {"create pods": 1}


async def test_a_mistake_of_ours_is_not_swallowed() -> None:
    async def wrong(_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        await sender().each(range(1), wrong)
    assert caught.group_contains(ZeroDivisionError)


class Watched:
    """A transport that counts how many calls are in it at once, and never answers."""

    def __init__(self) -> None:
        self.inside = 0

    async def send(self, call: Call) -> bytes:
        self.inside += 1
        await asyncio.Event().wait()
        return b""

    def stream(
        self, call: Call, *, idle_s: float
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[bytes]]:
        raise NotImplementedError


async def test_no_more_than_the_bound_are_under_way_at_once() -> None:
    watched = Watched()
    ours = Sender(watched, EagerClock(), roll=lambda: 0.0, at_once=3)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(ours.each(range(20), lambda _: ours.send(CREATE))) for _ in range(2)
        ]
        for _ in range(50):
            await asyncio.sleep(0)
        assert watched.inside == 3
        for task in tasks:
            task.cancel()
