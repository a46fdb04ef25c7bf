"""What callers see of a listener that several users share, and of what it refuses by itself."""

import contextlib
import dataclasses
import json
from pathlib import Path

import pytest
from nemutator_common.addresses import UnixAddress
from nemutator_common.serving.server import MOST_REFUSALS

from tests.fakes.listeners import (
    GET,
    LIMITS,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

SHARE = 3
REMARKS = {
    404: {"error": "not here", "remedy": "look elsewhere"},
    429: {"remedy": "close some"},
    431: {"remedy": "say less"},
}


def sharing(folder: Path, *, ending_s: float = LIMITS.ending_s) -> Listener:
    limits = dataclasses.replace(LIMITS, connections_each=SHARE, ending_s=ending_s)
    return Listener(UnixAddress(folder / "s.sock"), limits=limits, error_details=REMARKS)


@pytest.fixture
def shared(tmp_path: Path) -> Listener:
    return sharing(tmp_path)


async def test_whoever_is_over_his_share_loses_what_was_idle_longest(shared: Listener) -> None:
    async with listening(shared), contextlib.AsyncExitStack() as opened:
        readers = []
        for _ in range(SHARE + 1):
            reader, writer = await shared.call(GET)
            await opened.enter_async_context(closing(writer))
            assert (await one_answer(reader))[0] == 200
            readers.append(reader)
        assert await everything(readers[0]) == b""
        assert shared.dropped("too_many") == 1
        assert shared.server.connections == SHARE


async def test_a_request_under_way_gives_way_to_nobody_and_the_new_caller_is_told(
    shared: Listener,
) -> None:
    async with listening(shared), contextlib.AsyncExitStack() as opened:
        slow = []
        for _ in range(SHARE):
            reader, writer = await shared.call(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            await opened.enter_async_context(closing(writer))
            slow.append(reader)
        reader, writer = await shared.call()
        async with closing(writer):
            # However late the question comes, it is answered.
            await shared.until(lambda: shared.dropped("too_many") == 1)
            writer.write(GET)
            status, body = await one_answer(reader)
            assert (status, json.loads(body)["remedy"]) == (429, "close some")
            assert await everything(reader) == b""
        shared.release.set()
        assert [(await one_answer(reader))[0] for reader in slow] == [200] * SHARE


async def test_only_so_many_are_told_at_a_time(tmp_path: Path) -> None:
    # Patience in the ending too: none is done with before the last one has come.
    patient = sharing(tmp_path, ending_s=PATIENCE_S)
    async with listening(patient), contextlib.AsyncExitStack() as opened:
        callers = [await patient.call() for _ in range(SHARE + MOST_REFUSALS + 2)]
        for _, writer in callers:
            await opened.enter_async_context(closing(writer))
        told = [await one_answer(reader) for reader, _ in callers[SHARE:-2]]
        assert [status for status, _ in told] == [429] * MOST_REFUSALS
        assert [await everything(reader) for reader, _ in callers[-2:]] == [b"", b""]


async def test_whoever_only_listens_to_the_refusal_is_not_kept(shared: Listener) -> None:
    async with listening(shared), contextlib.AsyncExitStack() as opened:
        callers = [await shared.call() for _ in range(SHARE + 1)]
        for _, writer in callers:
            await opened.enter_async_context(closing(writer))
        assert b"429" in await everything(callers[-1][0])


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        (
            b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
            404,
            {"error": "not here", "remedy": "look elsewhere"},
        ),
        (
            GET[:-2] + b"A: " + b"b" * 3000 + b"\r\n\r\n",
            431,
            {"error": "the head of the request has more than 2048 bytes", "remedy": "say less"},
        ),
        (
            b"DELETE /echo HTTP/1.1\r\nHost: x\r\n\r\n",
            405,
            {"error": "method not allowed"},
        ),
    ],
)
async def test_what_no_handler_is_asked_for_is_refused_in_the_owners_words(
    shared: Listener, sent: bytes, status: int, told: dict[str, str]
) -> None:
    async with listening(shared):
        reader, writer = await shared.call(sent)
        async with closing(writer):
            answered, body = await one_answer(reader)
            assert (answered, json.loads(body)) == (status, told)
