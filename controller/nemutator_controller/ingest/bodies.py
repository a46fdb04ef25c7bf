"""Reads the body of a request, and keeps no copy of it."""

from aiohttp import web


async def body_of(request: web.Request) -> bytes:
    """The whole body, up to the listener's bound.

    `request.read()` keeps it, and aiohttp keeps the last request of a connection until the next one
    comes: for 5 000 idle agents that would be 5 000 reports of 0.2 MB each, or of 8 MB after an outage.
    """
    body = bytearray()
    async for piece in request.content.iter_any():
        body += piece
        if len(body) > request.client_max_size:
            raise web.HTTPRequestEntityTooLarge(
                max_size=request.client_max_size, actual_size=len(body)
            )
    return bytes(body)
