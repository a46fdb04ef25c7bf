"""Tokens in Redis: the real one, and one in memory that can be old, slow or broken."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_common.clocks import Clock
from nemutator_common.system_clock import SystemClock
from nemutator_controller.mutations.known_tokens import LONGEST_VALUE
from nemutator_controller.tokens.model import TokenSourceError, TokenTable
from nemutator_controller.tokens.redis import RESTS, SCAN_S, RedisTokens, address_of

from tests.fakes.clocks import ManualClock
from tests.fakes.redis_server import MemoryRedis, standing_redis
from tests.testbed.parts.redis import Redis

PASSWORD = "of the store"
SYSTEM_CLOCK = SystemClock()


@dataclass
class Store:
    tokens: RedisTokens
    call: Callable[..., object]
    """Any command, by somebody else."""
    clock: Clock


def tokens_at(
    port: int, folder: Path, password: str = PASSWORD, clock: Clock = SYSTEM_CLOCK
) -> RedisTokens:
    file = folder / "password"
    file.write_text(f"{password}\n")
    url = f"redis://127.0.0.1:{port}/0"
    address = address_of(url, user="", password_file=str(file), ca_file="")
    return RedisTokens(address, clock)


def tokens_by_tls(redis: Redis, folder: Path, authority: str | None = None) -> RedisTokens:
    """*authority*: the file of whom it trusts, where that is not who has signed for *redis*."""
    file = folder / "password"
    file.write_text(redis.password.reveal())
    address = address_of(
        f"rediss://127.0.0.1:{redis.tls_port}/0",
        user="",
        password_file=str(file),
        ca_file=str(redis.authority) if authority is None else authority,
    )
    return RedisTokens(address, SYSTEM_CLOCK)


@contextlib.asynccontextmanager
async def in_memory(folder: Path, *, old: bool = False) -> AsyncIterator[Store]:
    async with standing_redis(MemoryRedis(password=PASSWORD, old=old)) as redis:

        def call(word: str, key: str, value: str = "") -> None:
            redis.set(key, value if word == "SET" else None)

        clock = ManualClock() if old else SYSTEM_CLOCK
        with contextlib.closing(tokens_at(redis.port, folder, clock=clock)) as tokens:
            yield Store(tokens, call, clock)


REAL = [pytest.param(which, marks=pytest.mark.e2e) for which in ("real", "real by TLS")]


@pytest.fixture(params=["memory", "old", *REAL])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param in ("memory", "old"):
        async with in_memory(tmp_path, old=request.param == "old") as made:
            yield made
        return
    redis: Redis = request.getfixturevalue("redis")
    redis.call("FLUSHDB")
    password, tls = redis.password.reveal(), request.param == "real by TLS"
    there = tokens_by_tls(redis, tmp_path) if tls else tokens_at(redis.port, tmp_path, password)
    with contextlib.closing(there) as tokens:
        yield Store(tokens, redis.call, SYSTEM_CLOCK)
    redis.call("FLUSHDB")


async def seen_to_change(tokens: RedisTokens) -> None:
    async with asyncio.timeout(60):
        while True:
            if await tokens.changed():
                return


async def later(store: Store) -> None:
    """When a server that does not tell is scanned again."""
    if isinstance(store.clock, ManualClock):
        await store.clock.advance(SCAN_S)


async def test_what_is_put_is_read_and_what_does_not_count_is_counted(store: Store) -> None:
    assert await store.tokens.read() == TokenTable()
    await store.tokens.put("nemu_a", "größer\n")
    await store.tokens.put("nemu_label_b", "b")
    await later(store)
    await seen_to_change(store.tokens)
    assert (await store.tokens.read()).values == {"nemu_a": "größer\n", "nemu_label_b": "b"}
    store.call("SET", "nemu_label_b", "x" * (LONGEST_VALUE + 1))
    store.call("LPUSH", "nemu_list", "x")
    store.call("SET", "nemu_ no key", "x")
    store.call("SET", "other", "x")
    await store.tokens.put("nemu_c", None)
    await later(store)
    await seen_to_change(store.tokens)
    table = await store.tokens.read()
    assert table.values == {"nemu_a": "größer\n"}
    # A scan may find a key twice.
    assert table.left_out["key"] >= 1
    assert table.left_out["value"] >= 2


async def test_more_keys_than_one_step_scans_are_all_read(store: Store) -> None:
    expected = {f"nemu_{number}": str(number) for number in range(300)}
    for key, value in expected.items():
        await asyncio.to_thread(store.call, "SET", key, value)
    assert (await store.tokens.read()).values == expected


@pytest.mark.e2e
async def test_real_redis_tells_what_changes_and_a_reader_needs_little(
    redis: Redis, tmp_path: Path
) -> None:
    """As docs/mutations.md writes that user down."""
    rules = "on >little ~nemu_* +hello +ping +scan +getrange +client|tracking"
    redis.call("FLUSHDB")
    redis.call("ACL", "SETUSER", "tokens", *rules.split())
    (tmp_path / "password").write_text("little")
    url, file = f"redis://127.0.0.1:{redis.port}", str(tmp_path / "password")
    address = address_of(url, user="tokens", password_file=file, ca_file="")
    tokens = RedisTokens(address, ManualClock())
    try:
        assert await tokens.read() == TokenTable()
        redis.call("SET", "nemu_a", "1")
        # The clock stands still, so no interval ends.
        await seen_to_change(tokens)
        assert (await tokens.read()).values == {"nemu_a": "1"}
        with pytest.raises(TokenSourceError, match="NOPERM"):
            await tokens.put("nemu_a", "2")
        (tmp_path / "password").write_text("guessed")
        with pytest.raises(TokenSourceError, match="WRONGPASS") as raised:
            await RedisTokens(address, ManualClock()).read()
        assert "guessed" not in str(raised.value)
    finally:
        tokens.close()
        redis.call("ACL", "DELUSER", "tokens")
        redis.call("FLUSHDB")


@pytest.mark.e2e
async def test_real_redis_of_an_unknown_authority_gets_no_password(
    redis: Redis, tmp_path: Path
) -> None:
    with (
        contextlib.closing(tokens_by_tls(redis, tmp_path, authority="")) as tokens,
        pytest.raises(TokenSourceError, match="certificate verify failed") as raised,
    ):
        await tokens.read()
    assert raised.value.reason == "connection"


async def test_a_server_that_goes_and_comes_is_read_again(tmp_path: Path) -> None:
    redis = MemoryRedis(password=PASSWORD, keys={"nemu_a": "1"})
    async with standing_redis(redis):
        tokens = tokens_at(redis.port, tmp_path)
        assert (await tokens.read()).values == {"nemu_a": "1"}
    with pytest.raises(TokenSourceError) as raised:
        await tokens.changed()
    assert raised.value.reason == "connection"
    async with standing_redis(redis):
        assert (await tokens.read()).values == {"nemu_a": "1"}
        tokens.close()


async def test_a_server_that_does_not_tell_is_scanned_by_the_clock(tmp_path: Path) -> None:
    async with standing_redis(MemoryRedis(old=True, password=PASSWORD)) as redis:
        clock = ManualClock()
        file = tmp_path / "password"
        file.write_text(PASSWORD)
        url = f"redis://127.0.0.1:{redis.port}/3"
        address = address_of(url, user="", password_file=str(file), ca_file="")
        tokens = RedisTokens(address, clock)
        await tokens.read()
        assert not await tokens.changed()
        await clock.advance(SCAN_S)
        assert await tokens.changed()
        tokens.close()


class SlowHours(ManualClock):
    """A second passes whenever somebody looks at it."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    def monotonic(self) -> float:
        self._pass(1.0)
        return super().monotonic()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_a_store_that_takes_long_to_read_rests_before_it_is_read_again(
    tmp_path: Path,
) -> None:
    async with standing_redis(MemoryRedis(password=PASSWORD)) as redis:
        clock = SlowHours()
        with contextlib.closing(tokens_at(redis.port, tmp_path, clock=clock)) as tokens:
            await tokens.read()
            redis.set("nemu_a", "1")
            assert await tokens.changed()
            # Reading took a second, and another one has passed since.
            assert clock.slept == [1.0 * (1 + RESTS) - 2.0]
            assert (await tokens.read()).values == {"nemu_a": "1"}


@pytest.mark.parametrize(
    ("instead", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "malformed"),
        (b"$99999999999\r\n", "malformed"),
        (b"-LOADING\r\n", "refused"),
        (b"*0\r\n", "malformed"),
    ],
)
async def test_what_is_no_redis_is_named(instead: bytes, reason: str, tmp_path: Path) -> None:
    async with standing_redis(MemoryRedis(instead=instead)) as redis:
        with pytest.raises(TokenSourceError) as raised:
            await tokens_at(redis.port, tmp_path).read()
        assert raised.value.reason == reason


async def test_a_password_that_is_wrong_or_missing_is_named_and_not_shown(tmp_path: Path) -> None:
    async with standing_redis(MemoryRedis(password=PASSWORD)) as redis:
        with pytest.raises(TokenSourceError, match="WRONGPASS") as raised:
            await tokens_at(redis.port, tmp_path, "guessed").read()
        assert "guessed" not in str(raised.value)
        none = address_of(f"redis://127.0.0.1:{redis.port}", user="", password_file="", ca_file="")
        with pytest.raises(TokenSourceError, match="NOAUTH"):
            await RedisTokens(none, ManualClock()).read()
        lost = str(tmp_path / "none")
        gone = address_of(
            f"redis://127.0.0.1:{redis.port}", user="", password_file=lost, ca_file=""
        )
        with pytest.raises(TokenSourceError, match="No such file"):
            await RedisTokens(gone, ManualClock()).read()


def test_an_address_is_read_from_its_url() -> None:
    address = address_of("rediss://store.example:6380/2", user="u", password_file="p", ca_file="c")
    assert (address.host, address.port, address.database, address.tls) == (
        "store.example",
        6380,
        2,
        True,
    )
    tokens = RedisTokens(address, ManualClock())
    assert tokens.name == "redis store.example:6380/2 by TLS"
