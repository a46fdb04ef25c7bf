import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from tests.testbed.running.waiting import until

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
async def connections_end() -> AsyncIterator[None]:
    """A server of S3 ends a connection with some of its answers, such as refusals, and over TLS aiohttp does
    not wait until that is done: a test whose loop ends first would leave it open, for a later one to find."""
    before = _open_sockets()
    yield
    ended = "all connections of the test have ended"
    await asyncio.to_thread(until, lambda: _open_sockets() <= before, ended, within_s=PATIENCE_S)


def _open_sockets() -> set[str]:
    return {name for name in map(_name, os.listdir("/proc/self/fd")) if name.startswith("socket:")}


def _name(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:  # the one by which the folder was listed
        return ""
