"""Tokens in a JSON file: one object, keys and values are text."""

import contextlib
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
from nemutator_common.clocks import Clock
from nemutator_common.files import replace_file
from nemutator_common.slow_disk import on_disk

from nemutator_controller.tokens.model import TokenSourceError, TokenTable, table_of

T = TypeVar("T")

LARGEST = 32 << 20
EVERY_S = 2.0
DEADLINE_S = 10.0

Signature = tuple[int, int, int]


class FileTokens:
    """A `TokenSource`. *optional*: where there is no file there are no tokens, and `put` makes one."""

    def __init__(self, path: Path, clock: Clock, *, optional: bool) -> None:
        self._path = path
        self._clock = clock
        self._optional = optional
        self._read: Signature | None = None
        self._turn = threading.Lock()

    @property
    def name(self) -> str:
        return f"file {self._path}"

    async def read(self) -> TokenTable:
        return await self._outside(self._table)

    async def changed(self) -> bool:
        await self._clock.sleep(EVERY_S)
        return await self._outside(self._signature) != self._read

    def close(self) -> None:
        """Nothing is held open."""

    async def put(self, key: str, value: str | None) -> None:
        await self._outside(lambda: self._put(key, value))

    async def _outside(self, work: Callable[[], T]) -> T:
        try:
            return await on_disk(work, self._turn, within_s=DEADLINE_S)
        except TimeoutError:
            raise TokenSourceError("late", f"{self._path}: the disk does not answer") from None
        except OSError as error:
            raise TokenSourceError("file", f"{self._path}: {error.strerror or error}") from error

    def _signature(self) -> Signature | None:
        """None: there is no file, and need not be one."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            if self._optional:
                return None
            raise
        return now.st_mtime_ns, now.st_size, now.st_ino

    def _table(self) -> TokenTable:
        # Looked at first: what is written meanwhile is read again.
        signature = self._signature()
        table = TokenTable() if signature is None else table_of(self._document())
        if table is None:
            raise TokenSourceError("malformed", f"{self._path}: expected one JSON object")
        self._read = signature
        return table

    def _document(self) -> object:
        # A pipe in its place would hold up the thread for ever, or has nothing to read now.
        fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise TokenSourceError("file", f"{self._path}: it is not a file of text")
            # `fdopen` comes late, because it refuses a directory and leaves its descriptor open.
            with os.fdopen(fd, "rb", closefd=False) as file:
                content = file.read(LARGEST + 1)
        finally:
            os.close(fd)
        if len(content) > LARGEST:
            raise TokenSourceError("malformed", f"{self._path}: larger than {LARGEST} bytes")
        try:
            return msgspec.json.decode(content)
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise TokenSourceError("malformed", f"{self._path}: not JSON: {error}") from error

    def _put(self, key: str, value: str | None) -> None:
        document: object = {}
        with contextlib.suppress(FileNotFoundError):
            document = self._document()
        if not isinstance(document, dict):
            raise TokenSourceError("malformed", f"{self._path}: expected one JSON object")
        document.pop(key, None)
        if value is not None:
            document[key] = value
        content = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
        replace_file(self._path, content, durable=True)
