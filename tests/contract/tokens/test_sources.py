"""Every token store gives what is written into it, says when that has changed, and bounds what it holds."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from nemutator_common.system_clock import SystemClock
from nemutator_controller.tokens.files import FileTokens
from nemutator_controller.tokens.model import TokenSourceError, TokenTable
from nemutator_controller.tokens.ports import TokenSource

from tests.fakes.clocks import ManualClock
from tests.fakes.token_sources import MemoryTokens

Start = Callable[[Path], AbstractAsyncContextManager[TokenSource]]


@contextlib.asynccontextmanager
async def of_memory(_: Path) -> AsyncIterator[TokenSource]:
    yield MemoryTokens()


@contextlib.asynccontextmanager
async def of_a_file(folder: Path) -> AsyncIterator[TokenSource]:
    yield FileTokens(folder / "tokens.json", SystemClock(), optional=True)


STORES = pytest.mark.parametrize("start", [of_memory, of_a_file])


async def seen_to_change(source: TokenSource) -> None:
    async with asyncio.timeout(60):
        while True:
            if await source.changed():
                return


@STORES
async def test_what_is_put_is_read(start: Start, tmp_path: Path) -> None:
    async with start(tmp_path) as source:
        assert await source.read() == TokenTable()
        await source.put("nemu_a", "größer\n")
        await source.put("nemu_label_b", "b")
        await seen_to_change(source)
        assert (await source.read()).values == {"nemu_a": "größer\n", "nemu_label_b": "b"}
        await source.put("nemu_a", "other")
        await source.put("nemu_label_b", None)
        await source.put("nemu_none", None)
        await seen_to_change(source)
        assert (await source.read()).values == {"nemu_a": "other"}


def file(tmp_path: Path, *, optional: bool = False) -> FileTokens:
    return FileTokens(tmp_path / "tokens.json", ManualClock(), optional=optional)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "malformed"),
        (b"[]", "malformed"),
        (b"{", "malformed"),
        (b'"\xff"', "malformed"),
        (b"[" * 100_000, "malformed"),
        (None, "file"),
    ],
)
async def test_a_file_that_has_no_tokens_says_so(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "tokens.json").write_bytes(content)
    with pytest.raises(TokenSourceError, match=r"tokens\.json") as raised:
        await file(tmp_path).read()
    assert raised.value.reason == reason


async def test_what_lies_in_the_place_of_a_file_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tokens.json")
    with pytest.raises(TokenSourceError, match=r"tokens\.json"):
        await file(tmp_path).read()
    # Somebody holds the other end, and has written nothing yet.
    end = os.open(tmp_path / "tokens.json", os.O_RDWR)
    try:
        with pytest.raises(TokenSourceError, match=r"tokens\.json"):
            await file(tmp_path).read()
    finally:
        os.close(end)
    (tmp_path / "tokens.json").unlink()
    (tmp_path / "tokens.json").mkdir()
    for optional in (False, True):
        with pytest.raises(TokenSourceError, match=r"tokens\.json"):
            await file(tmp_path, optional=optional).read()


async def test_a_folder_in_the_place_of_a_file_costs_no_descriptor_each_time_it_is_tried(
    tmp_path: Path,
) -> None:
    (tmp_path / "tokens.json").mkdir()
    tokens = file(tmp_path)

    async def open_after_a_try() -> list[str]:
        with pytest.raises(TokenSourceError, match="not a file"):
            await tokens.read()
        return [each for each in _opened() if each.endswith("tokens.json")]

    assert await open_after_a_try() == []


def _opened() -> list[str]:
    found = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{each}"))
    return found


async def test_other_words_of_a_file_stay_when_a_token_is_put(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_text('{"note": 3, "nemu_a": "1"}')
    await file(tmp_path).put("nemu_a", "2")
    assert path.read_text() == '{\n  "note": 3,\n  "nemu_a": "2"\n}\n'
    assert (await file(tmp_path).read()) == TokenTable({"nemu_a": "2"}, {"key": 1})
