"""What is wrong with the brain, as clients of its API see it."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common.readiness import Readiness
from nemutator_controller.console.problems import Problems


async def answer(_: web.Request) -> web.Response:
    return web.json_response({})


async def warning(readiness: Readiness, path: str) -> str | None:
    app = web.Application(middlewares=[Problems(readiness).warn])
    app.router.add_get("/{path:.*}", answer)
    async with TestClient(TestServer(app)) as client, client.get(path) as response:
        return response.headers.get("Warning")


async def test_problems_are_shown_on_the_api_alone() -> None:
    readiness = Readiness()
    readiness.fail("database", "no space left")
    readiness.fail("cluster", "not listed yet")
    expected = '299 nemutator "database: no space left; cluster: not listed yet"'
    assert await warning(readiness, "/api/v1/nodes") == expected
    assert await warning(readiness, "/style.css") is None


async def test_where_nothing_is_wrong_nothing_is_shown() -> None:
    assert await warning(Readiness(), "/api/v1/nodes") is None


@pytest.mark.parametrize("why", ['a "quote"', "a\\b", "a\r\nSet-Cookie: x", "ä\x00"])
async def test_no_text_breaks_out_of_its_header(why: str) -> None:
    readiness = Readiness()
    readiness.fail("part", why)
    header = await warning(readiness, "/api/v1/nodes")
    assert header is not None
    assert header.count('"') == 2
    assert header.isascii()
    assert header.isprintable()
