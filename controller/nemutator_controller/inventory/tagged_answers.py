"""Answers that are not sent to whom has them already, and in pieces to everybody else."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

import msgspec
from aiohttp import web

PIECE = 256 << 10
"""Bytes that are handed to a connection at once."""


def tag_of(document: object) -> str:
    """The same for as long as *document* is."""
    return hashlib.blake2b(msgspec.json.encode(document), digest_size=16).hexdigest()


def sent(request: web.Request, body: bytes, tag: str) -> web.Response:
    """*body* in pieces, so that nobody else waits for it, unless the caller has the one with this *tag*."""

    async def pieces() -> AsyncIterator[bytes]:
        for begin in range(0, len(body), PIECE):
            yield body[begin : begin + PIECE]
            # To a caller that reads fast all would be sent in one turn, and others need theirs.
            await asyncio.sleep(0)

    headers = {"ETag": f'W/"{tag}"', "Cache-Control": "no-store"}
    if any(one.value == tag for one in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=pieces(), content_type="application/json", headers=headers)
