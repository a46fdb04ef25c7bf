"""As much of Redis as tokens need, on a free port of this machine; it can be old, slow, or no Redis."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from nemutator_controller.tokens.resp import ReplyDecoder


def bulk(text: str | bytes) -> bytes:
    content = text.encode() if isinstance(text, str) else text
    return b"$%d\r\n%s\r\n" % (len(content), content)


@dataclass
class MemoryRedis:
    password: str = ""
    old: bool = False
    """Before version 6: no HELLO, and nothing is told."""
    instead: bytes | None = None
    """What it sends in the place of any reply; empty: nothing."""
    port: int = 0
    keys: dict[str, str | None] = field(default_factory=dict)
    """None: a key that holds no text."""
    scans: int = 0
    _told: set[asyncio.StreamWriter] = field(default_factory=set)
    _open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = field(default_factory=dict)

    def set(self, key: str, value: str | None) -> None:
        self.keys[key] = value
        self._tell(key)

    async def hang_up(self) -> None:
        serving = [task for task in self._open.values() if task]
        for writer in list(self._open):
            writer.close()
        for task in serving:
            await task

    def _tell(self, key: str) -> None:
        for writer in self._told:
            writer.write(b">2\r\n" + bulk("invalidate") + b"*1\r\n" + bulk(key))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decoder, signed_in = ReplyDecoder(), not self.password
        self._open[writer] = asyncio.current_task()
        try:
            while data := await reader.read(1 << 16):
                for words in decoder.feed(data):
                    assert isinstance(words, list)
                    texts = [word.decode() for word in words if isinstance(word, bytes)]
                    if self.instead is not None:
                        writer.write(self.instead)
                        continue
                    if self.old and texts[0] == "HELLO":
                        writer.write(b"-ERR unknown command\r\n")
                        continue
                    if "AUTH" in texts:
                        signed_in = texts[-1] == self.password
                        if not signed_in:
                            writer.write(b"-WRONGPASS invalid\r\n")
                            continue
                    writer.write(self._reply(texts, writer) if signed_in else b"-NOAUTH needed\r\n")
        except ConnectionError:
            return
        finally:
            self._open.pop(writer)
            self._told.discard(writer)
            writer.close()

    def _reply(self, words: list[str], writer: asyncio.StreamWriter) -> bytes:
        match words:
            case ["HELLO", *_] if not self.old:
                return b"%1\r\n" + bulk("proto") + b":3\r\n"
            case ["CLIENT", "TRACKING", *_] if not self.old:
                self._told.add(writer)
                return b"+OK\r\n"
            case ["AUTH" | "select" | "PING", *_]:
                return b"+OK\r\n"
            case ["SCAN", cursor, "MATCH", _, "COUNT", _]:
                self.scans += cursor == "0"
                # In two steps, and one key in both of them, as a server may.
                found = sorted(each for each in self.keys if each.startswith("nemu_"))
                half = len(found) // 2
                part = found[: half + 1] if cursor == "0" else found[half:]
                listed = b"".join(map(bulk, part))
                return (
                    b"*2\r\n"
                    + bulk("7" if cursor == "0" else "0")
                    + b"*%d\r\n" % len(part)
                    + listed
                )
            case ["GETRANGE", key, "0", end]:
                value = self.keys.get(key, "")
                return b"-WRONGTYPE\r\n" if value is None else bulk(value.encode()[: int(end) + 1])
            case ["SET", key, value]:
                self.set(key, value)
                return b"+OK\r\n"
            case ["DEL", key]:
                self._tell(key)
                return b":%d\r\n" % (self.keys.pop(key, None) is not None)
        return b"-ERR unknown command\r\n"


@contextlib.asynccontextmanager
async def standing_redis(redis: MemoryRedis) -> AsyncIterator[MemoryRedis]:
    server = await asyncio.start_server(redis.serve, "127.0.0.1", redis.port)
    redis.port = server.sockets[0].getsockname()[1]
    try:
        yield redis
    finally:
        server.close()
        await redis.hang_up()
