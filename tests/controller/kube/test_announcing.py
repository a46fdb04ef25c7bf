"""The same news is one Event that counts; what cannot be told is counted, and holds up nobody."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from nemutator_common import names
from nemutator_controller.kube.announcing import LONGEST_NOTE, Announcer, News, event_name
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import AlreadyExistsError, ForbiddenError, NotFoundError
from nemutator_controller.kube.writing import Writer

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport


def news(name: str, reason: str = "R", note: str = "n") -> News:
    return News("v1", "Pod", "team", name, f"uid of {name}", reason, note, "Warning")


NEWS = news("web", "Resized", "cpu 1 → 2")
FORBIDDEN = ForbiddenError("create events in namespace team", "no")


@contextlib.asynccontextmanager
async def told(
    *script: Said, times: int = 1, about: News = NEWS
) -> AsyncIterator[tuple[ScriptedTransport, MemoryMeter]]:
    """After *script* was used up by one announcement after the other."""
    transport, clock, meter = ScriptedTransport(*script), EagerClock(), MemoryMeter()
    writer = Writer(transport, WriteBudget(clock), clock)
    announcer = Announcer(writer, fake_process(clock=clock, meter=meter), component="brain")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(announcer.run())
        for _ in range(times):
            announcer.announce(about)
            for _ in range(20):
                await asyncio.sleep(0)
        announcer.announce(news("other", "Last", "one"))
        async with asyncio.timeout(60):
            await transport.over.wait()
        yield transport, meter
        task.cancel()


async def test_news_is_an_event_about_its_object() -> None:
    async with told(b"{}") as (transport, _):
        event = json.loads(transport.calls[0].body)
        assert event["involvedObject"]["uid"] == "uid of web"
        assert (event["reason"], event["type"], event["count"]) == ("Resized", "Warning", 1)
        assert event["source"] == {"component": "brain"}


async def test_the_same_news_again_only_counts() -> None:
    async with told(b"{}", b"{}", times=2) as (transport, _):
        create, patch = transport.calls[:2]
        assert (create.verb, patch.verb) == ("create", "patch")
        assert json.loads(patch.body)["count"] == 2
        assert patch.path.endswith(json.loads(create.body)["metadata"]["name"])


async def test_an_event_that_the_server_forgot_is_made_anew() -> None:
    async with told(b"{}", NotFoundError("patch", "404"), b"{}", times=2) as (transport, _):
        assert [call.verb for call in transport.calls[:3]] == ["create", "patch", "create"]
        assert json.loads(transport.calls[2].body)["count"] == 2


async def test_a_lost_answer_makes_no_second_event() -> None:
    async with told(AlreadyExistsError("create", "409"), b"{}") as (transport, _):
        assert [call.verb for call in transport.calls[:2]] == ["create", "patch"]


async def test_a_refused_event_is_counted_and_the_next_one_told() -> None:
    async with told(FORBIDDEN) as (_, meter):
        assert meter.value(names.KUBE_EVENTS_DROPPED, reason="refused") == 1


async def test_what_does_not_fit_is_dropped_and_counted() -> None:
    clock, meter = EagerClock(), MemoryMeter()
    writer = Writer(ScriptedTransport(), WriteBudget(clock), clock)
    announcer = Announcer(
        writer, fake_process(clock=clock, meter=meter), component="brain", capacity=2
    )
    for name in ("a", "b", "c", "a"):
        announcer.announce(news(name))
    assert meter.value(names.KUBE_EVENTS_DROPPED, reason="full") == 1


async def test_a_note_fits_the_server() -> None:
    async with told(b"{}", about=news("web", note="n" * 5000)) as (transport, _):
        assert json.loads(transport.calls[0].body)["message"] == "n" * LONGEST_NOTE


def test_the_name_of_an_event_fits_the_server() -> None:
    assert len(event_name(news("x" * 253), 1.0)) <= 253
