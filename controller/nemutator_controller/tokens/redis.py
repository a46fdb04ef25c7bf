"""Tokens in Redis: plain keys that begin with `nemu_`, as the first nemutator kept them.

One connection is kept. Where the server can (Redis 6 and later) it says which of these keys change; else all
keys are scanned again and again. No more of a value is asked for than a token may have.
"""

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from nemutator_common.clocks import Clock
from nemutator_common.secret import Secret

from nemutator_controller.mutations.known_tokens import LONGEST_VALUE, PREFIX
from nemutator_controller.tokens.model import (
    TokenSourceError,
    TokenTable,
    TokenTableMaker,
    is_key,
)
from nemutator_controller.tokens.resp import (
    Push,
    RedisError,
    Reply,
    ReplyDecoder,
    RespError,
    command,
)

CONNECT_S = 3.0
REPLY_S = 5.0
READ_S = 60.0
"""For all tokens: a server may have millions of other keys to pass over."""

WAIT_S = 2.0
"""Without a word of the server, for so long; then it is asked whether it is still there."""

SCAN_S = 10.0
"""The time between two scans of a server that does not say what changes."""

RESTS = 4
"""Of so many times as long as reading took nothing is read again: keys that change all the time would have a server
with millions of others pass over them all the time."""

SCANNED = 2_000
"""Keys that the server looks at in one step, while others wait for it."""

_CHUNK = 1 << 16
_LONGEST_PASSWORD = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    host: str
    port: int
    database: int
    tls: bool
    user: str
    password_file: str
    """Empty: no password."""
    ca_file: str
    """Empty: the authorities that this machine trusts."""


def address_of(url: str, *, user: str, password_file: str, ca_file: str) -> RedisAddress:
    """From a *url* that the settings have checked."""
    parts = urlsplit(url)
    return RedisAddress(
        host=parts.hostname or "",
        port=parts.port or 6379,
        database=int(parts.path.strip("/") or "0"),
        tls=parts.scheme == "rediss",
        user=user,
        password_file=password_file,
        ca_file=ca_file,
    )


class RedisTokens:
    """A `TokenSource`."""

    def __init__(self, address: RedisAddress, clock: Clock) -> None:
        self._address = address
        self._clock = clock
        self._connection: _Connection | None = None
        self._turn = asyncio.Lock()
        self._read_at = self._took_s = 0.0

    @property
    def name(self) -> str:
        at = self._address
        return f"redis {at.host}:{at.port}/{at.database}{' by TLS' if at.tls else ''}"

    async def read(self) -> TokenTable:
        async with self._kept(READ_S) as connection:
            connection.changed = False
            self._read_at = self._clock.monotonic()
            maker = TokenTableMaker()
            cursor = b"0"
            while True:
                cursor, keys = await connection.scan(cursor)
                for key, value in await connection.values(keys):
                    maker.add(key, value)
                if cursor == b"0" or maker.is_full:
                    self._took_s = self._clock.monotonic() - self._read_at
                    return maker.table()

    async def changed(self) -> bool:
        async with self._kept(WAIT_S + REPLY_S) as connection:
            has_heard = await connection.hears_of_change()
            if connection.is_told and not has_heard:
                return False
        since_s = self._clock.monotonic() - self._read_at
        if not has_heard:
            return since_s >= SCAN_S
        rest_s = min(self._took_s * (1 + RESTS), SCAN_S) - since_s
        if rest_s > 0:
            await self._clock.sleep(rest_s)
        return True

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def put(self, key: str, value: str | None) -> None:
        words = ("DEL", key) if value is None else ("SET", key, value)
        with _failures():
            async with asyncio.timeout(CONNECT_S + REPLY_S):
                connection = await _connected(self._address)
                with contextlib.closing(connection):
                    await connection.call(*words)

    @contextlib.asynccontextmanager
    async def _kept(self, within_s: float) -> "AsyncIterator[_Connection]":
        """The one connection, which is given up whenever something fails."""
        async with self._turn:
            try:
                with _failures():
                    async with asyncio.timeout(within_s):
                        if self._connection is None:
                            self._connection = await _connected(self._address)
                            await self._connection.ask_to_be_told()
                        yield self._connection
            except BaseException:
                self.close()
                raise


@dataclass(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    changed: bool = False
    """Whether the server has said so."""
    is_told: bool = False
    """Whether the server says so."""
    _decoder: ReplyDecoder = field(default_factory=ReplyDecoder)
    _replies: deque[Reply] = field(default_factory=deque)

    def close(self) -> None:
        self.writer.close()

    async def sign_in(self, address: RedisAddress) -> None:
        account = _account(address)
        hello = await self.ask("HELLO", "3", *(["AUTH", *account] if account else []))
        if isinstance(hello, RedisError) and hello.text.startswith(("ERR", "NOPROTO")) and account:
            # A server before version 6 knows a password alone.
            await self.call("AUTH", *(account if address.user else account[1:]))
        elif isinstance(hello, RedisError) and not hello.text.startswith(("ERR", "NOPROTO")):
            raise TokenSourceError("refused", hello.text)
        if address.database:
            # Small letters are the same to Redis; in capitals it would be a word of SQL.
            await self.call("select", str(address.database))

    async def ask_to_be_told(self) -> None:
        answer = await self.ask("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", PREFIX)
        self.is_told = answer == b"OK"

    async def scan(self, cursor: bytes) -> tuple[bytes, Sequence[bytes]]:
        step = ("MATCH", f"{PREFIX}*", "COUNT", str(SCANNED))
        match await self.call("SCAN", cursor, *step):
            case [bytes(following), list(keys)]:
                return following, [key for key in keys if isinstance(key, bytes)]
        raise RespError("SCAN: expected a cursor and keys")

    async def values(self, keys: Sequence[bytes]) -> Sequence[tuple[object, object]]:
        """The keys as text, each with its value as text, or None where it is none."""
        named = [(key, text) for key in keys if (text := _text(key)) is not None and is_key(text)]
        others: list[tuple[object, object]] = [(None, None)] * (len(keys) - len(named))
        # A byte more than a token may have shows that there are more.
        asked = [command("GETRANGE", key, "0", str(LONGEST_VALUE)) for key, _ in named]
        self.writer.write(b"".join(asked))
        await self.writer.drain()
        return others + [(text, self._value(await self._answer())) for _, text in named]

    async def hears_of_change(self) -> bool:
        """Wait for a word of the server; then ask whether it is there, and whether it has said so."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0 if self.changed else WAIT_S):
                await self._receive()
        await self.call("PING")
        return self.changed

    async def call(self, *words: str | bytes) -> Reply:
        """The reply to a command that is not refused."""
        reply = await self.ask(*words)
        if isinstance(reply, RedisError):
            raise TokenSourceError("refused", reply.text)
        return reply

    async def ask(self, *words: str | bytes) -> Reply:
        self.writer.write(command(*words))
        await self.writer.drain()
        return await self._answer()

    async def _answer(self) -> Reply:
        async with asyncio.timeout(REPLY_S):
            while True:
                while not self._replies:
                    await self._receive()
                reply = self._replies.popleft()
                if not isinstance(reply, Push):
                    return reply

    async def _receive(self) -> None:
        data = await self.reader.read(_CHUNK)
        if not data:
            raise ConnectionError("the server has closed the connection")
        for reply in self._decoder.feed(data):
            if isinstance(reply, Push):
                self.changed = True
            else:
                self._replies.append(reply)

    def _value(self, reply: Reply) -> str | None:
        if isinstance(reply, RedisError) and not reply.text.startswith("WRONGTYPE"):
            raise TokenSourceError("refused", reply.text)
        return _text(reply) if isinstance(reply, bytes) else None


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


async def _connected(address: RedisAddress) -> _Connection:
    tls = ssl.create_default_context(cafile=address.ca_file or None) if address.tls else None
    async with asyncio.timeout(CONNECT_S):
        connection = _Connection(
            *await asyncio.open_connection(address.host, address.port, ssl=tls, limit=_CHUNK)
        )
    try:
        await connection.sign_in(address)
    except BaseException:
        connection.close()
        raise
    return connection


def _account(address: RedisAddress) -> tuple[str, ...]:
    """User and password; the file is read each time, because passwords are renewed."""
    if not address.password_file:
        return ()
    with Path(address.password_file).open(encoding="utf-8") as file:
        password = Secret(file.read(_LONGEST_PASSWORD).strip())
    return address.user or "default", password.reveal()


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Failures of a network as those of a token source."""
    try:
        yield
    except TimeoutError:
        raise TokenSourceError("late", "it does not answer in time") from None
    except RespError as error:
        raise TokenSourceError("malformed", f"it is no Redis: {error}") from error
    except (OSError, UnicodeError) as error:
        raise TokenSourceError("connection", str(error)[:200]) from error
