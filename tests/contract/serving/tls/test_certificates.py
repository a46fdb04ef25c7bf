"""What an owner of a listener relies on with TLS: certificates that change, and callers who prove themselves."""

import dataclasses
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_common.serving.tls_accepting import RELOAD_S

from tests.contract.serving.tls.pairs import (
    answer_to,
    name_for_a_newcomer,
    name_of,
    trusting,
    write_pair,
)
from tests.fakes.clocks import ManualClock
from tests.fakes.listeners import GET, Listener, closing, listening, one_answer


async def test_a_new_certificate_is_taken_over_while_a_connection_stays_open(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    files = write_pair(tmp_path, "old")
    async with listening(Listener(tls=files, clock=clock)) as listener:
        reader, writer = await listener.call(GET, tls=trusting())
        async with closing(writer):
            assert (name_of(writer), (await one_answer(reader))[0]) == ("old", 200)

            await clock.until_sleeping()
            files.key.write_text("half of a pair")
            await clock.advance(RELOAD_S)
            assert reloads(listener) == {"taken": 0, "refused": 1}
            assert await name_for_a_newcomer(listener) == "old"

            write_pair(tmp_path, "new")
            await clock.advance(RELOAD_S)
            await clock.advance(RELOAD_S)
            assert reloads(listener) == {"taken": 1, "refused": 1}
            assert await name_for_a_newcomer(listener) == "new"

            writer.write(GET)
            assert (await one_answer(reader))[0] == 200


def reloads(listener: Listener) -> dict[str, float]:
    return {
        result: listener.meter.total(names.TLS_RELOADS, result=result)
        for result in ("taken", "refused")
    }


async def test_with_a_client_ca_only_its_callers_are_let_in(tmp_path: Path) -> None:
    for part in ("server", "ours", "stranger"):
        (tmp_path / part).mkdir()
    ours, stranger = (write_pair(tmp_path / part, part) for part in ("ours", "stranger"))
    files = dataclasses.replace(write_pair(tmp_path / "server", "x"), client_ca=ours.certificate)
    async with listening(Listener(tls=files)) as listener:
        for refused, pair in enumerate((None, stranger), 1):
            assert await answer_to(listener, pair) == b""
            await listener.until(lambda: listener.dropped("handshake") == refused)  # noqa: B023
        assert (await answer_to(listener, ours)).startswith(b"HTTP/1.1 200 ")
        assert listener.meter.total(names.HTTP_REQUESTS) == 1


async def test_files_that_are_no_pair_are_refused_at_the_start(tmp_path: Path) -> None:
    files = write_pair(tmp_path, "x")
    files.key.write_text("nothing")
    with pytest.raises(OperatorError, match=r"tls\.key"):
        await Listener(tls=files).server.bind()
