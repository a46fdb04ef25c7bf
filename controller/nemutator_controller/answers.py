"""Answers in JSON, the same for every endpoint of the brain."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus

import msgspec
from aiohttp import web

RETRY_AFTER_S = "5"

_PATHS = "GET /api/v1/openapi.json lists the paths and what each takes"

UNHANDLED: Mapping[int, Mapping[str, str]] = {
    400: {"remedy": _PATHS},
    404: {"remedy": _PATHS},
    405: {"remedy": _PATHS},
    408: {"remedy": "send the whole request at once"},
    413: {"remedy": "send less at once"},
    431: {"remedy": "send fewer or shorter headers, or a shorter path"},
    500: {"remedy": "search the brain's log for this request, and report it"},
    503: {"remedy": "ask for less, or again later"},
}
"""By status, what to do about the answers to requests that no handler answers."""


def answer(document: object, *, status: int = 200) -> web.Response:
    """*document* as JSON, which nobody may store: it is true only now."""
    return web.Response(
        body=msgspec.json.encode(document),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def long_answer(
    document: object, parts: AsyncIterator[bytes], ended: Callable[[], object] | None = None
) -> web.Response:
    """*document*, whose last list is empty, with the items in *parts* in it, each part without its brackets.

    *ended* says after all parts what *document* is, where that differs in what follows the list.
    Others have their turns between two parts; as one piece, 10 MB hold them all up for a twentieth of a second.
    """

    async def pieces() -> AsyncIterator[bytes]:
        head, _, tail = msgspec.json.encode(document).rpartition(b"]")
        yield head
        between = b""
        async for part in parts:
            yield between + part
            between = b","
            await asyncio.sleep(0)
        if ended is not None:
            tail = msgspec.json.encode(ended()).rpartition(b"]")[2]
        yield b"]" + tail

    return web.Response(
        body=pieces(), content_type="application/json", headers={"Cache-Control": "no-store"}
    )


def unless_known(request: web.Request, document: object, *, tag: str) -> web.Response:
    """*document*, unless the caller has the one with this *tag* already.

    The tag is weak: the same for as long as no decision would be another.
    """
    return made_unless_known(request, lambda: answer(document), tag=tag)


def made_unless_known(
    request: web.Request, make: Callable[[], web.Response], *, tag: str
) -> web.Response:
    """The same for an answer that is made only when it is needed."""
    known = any(one.value == tag for one in request.if_none_match or ())
    response = web.Response(status=304) if known else make()
    response.headers["ETag"] = f'W/"{tag}"'
    return response


def unavailable(what: str, remedy: str, *, full: bool = False) -> web.Response:
    """The same question may be answered later; *full*: once somebody has made room on a disk."""
    status = HTTPStatus.INSUFFICIENT_STORAGE if full else HTTPStatus.SERVICE_UNAVAILABLE
    response = refusal(status, what, remedy)
    response.headers["Retry-After"] = RETRY_AFTER_S
    return response


def refusal(status: int, what: str, remedy: str) -> web.Response:
    return answer({"error": what, "remedy": remedy}, status=status)
