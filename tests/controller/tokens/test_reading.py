"""The store is read when it has changed; while it fails, what was read last stays, and grows old."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_common import names
from nemutator_controller.tokens.model import TokenSourceError, TokenTable
from nemutator_controller.tokens.reading import BACKOFF, TokenReading

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.token_sources import MemoryTokens

AWAY = TokenSourceError("connection", "nobody answers")


class SlowTokens(MemoryTokens):
    """Says every second whether it has changed."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(nemu_a="1")
        self._clock = clock

    async def changed(self) -> bool:
        await self._clock.sleep(1)
        return await super().changed()


class Read:
    def __init__(self) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.source = SlowTokens(self.clock)
        self.reading = TokenReading(
            self.source, fake_process(clock=self.clock, meter=self.meter, roll=0.5)
        )

    @property
    def values(self) -> dict[str, str]:
        return dict(self.reading.known.values)


@contextlib.asynccontextmanager
async def reading() -> AsyncIterator[Read]:
    read = Read()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(read.reading.run())
        yield read
        task.cancel()


async def test_what_has_changed_is_read_and_nothing_else() -> None:
    async with reading() as read:
        await read.clock.until_sleeping()
        assert read.values == {"nemu_a": "1"}
        tag = read.reading.tag
        await read.clock.advance(3)
        assert (read.source.reads, read.reading.tag, read.reading.age_s) == (1, tag, 0)
        read.source.values["nemu_b"] = "2"
        await read.clock.advance(1)
        assert read.values == {"nemu_a": "1", "nemu_b": "2"}
        assert read.reading.tag != tag
        assert read.meter.value(names.TOKENS) == 2


async def test_while_the_store_fails_the_last_tokens_stay_with_their_age() -> None:
    async with reading() as read:
        await read.clock.until_sleeping()
        read.source.failure = AWAY
        read.source.values["nemu_a"] = "2"
        await read.clock.advance(60)
        assert read.values == {"nemu_a": "1"}
        assert read.reading.problem == "nobody answers"
        assert read.reading.age_s == 60
        assert read.meter.value(names.TOKENS_AGE) > 60 - BACKOFF.longest_s
        assert read.meter.value(names.TOKENS_FAILURES, reason="connection") > 1
        read.source.failure = None
        await read.clock.advance(BACKOFF.longest_s)
        assert (read.values, read.reading.problem) == ({"nemu_a": "2"}, "")
        assert read.meter.value(names.TOKENS_AGE) == 0


async def test_before_it_was_read_there_are_none_and_the_reason_says_so() -> None:
    read = Read()
    assert read.reading.known.values == {}
    assert "has not been read yet" in read.reading.known.without
    assert not read.reading.snapshot.read


async def test_what_admission_gets_is_no_copy() -> None:
    """It is asked for at each poll, also when nothing has changed, and may have 100 000 tokens."""
    async with reading() as read:
        await read.clock.until_sleeping()
        table = read.reading.table
        assert table is not None
        assert read.reading.snapshot.tokens is table.values


async def test_what_is_put_counts_at_once() -> None:
    read = Read()
    await read.reading.put("nemu_b", "2")
    assert read.values == {"nemu_a": "1", "nemu_b": "2"}
    await read.reading.put("nemu_b", None)
    assert read.values == {"nemu_a": "1"}
    read.source.failure = AWAY
    with pytest.raises(TokenSourceError):
        await read.reading.put("nemu_b", "2")
    assert read.reading.table == TokenTable({"nemu_a": "1"})
