"""Answers in JSON, the same for every endpoint of the brain."""

import msgspec
from aiohttp import web


def answer(document: object, *, status: int = 200) -> web.Response:
    """*document* as JSON; what it says is true now, so nobody may keep it."""
    return web.Response(
        body=msgspec.json.encode(document),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def refusal(status: int, what: str, remedy: str) -> web.Response:
    return answer({"error": what, "remedy": remedy}, status=status)
