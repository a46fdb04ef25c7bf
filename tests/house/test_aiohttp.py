"""`serving` builds on insides of aiohttp that it does not promise to keep: its minor is capped.

A new minor is taken by hand: look at each of these in its source, run `tests/contract/serving` and
`tests/hostile`, then move TESTED and the cap in pyproject.toml together.
"""

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

ROOT = Path(__file__).parents[2]
TESTED = (3, 14)

# A connection is a subclass of the handler that it does not say may be subclassed.
HANDLER_SETTINGS = {
    "access_log",
    "keepalive_timeout",
    "lingering_time",
    "max_field_size",
    "max_headers",
    "max_line_size",
}
HANDLER_METHODS = {
    "close",
    "connection_lost",
    "connection_made",
    "data_received",
    "force_close",
    "handle_error",
}
HANDLER_STATE = {"_loop", "_messages"}
"""The event loop, and the requests that came before the answer to the one before them."""


def test_the_minor_that_is_installed_is_the_one_that_was_tested() -> None:
    major, minor = TESTED
    assert version("aiohttp").startswith(f"{major}.{minor}.")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    said = {one for extra in extras.values() for one in extra if one.startswith("aiohttp")}
    assert said == {f"aiohttp>={major}.{minor},<{major}.{minor + 1}"}


def test_a_connection_finds_what_it_builds_on() -> None:
    handler = web.RequestHandler
    assert {*inspect.signature(handler).parameters} >= HANDLER_SETTINGS
    slots = {slot for one in handler.__mro__ for slot in getattr(one, "__slots__", ())}
    assert slots >= HANDLER_STATE
    assert all(callable(getattr(handler, method)) for method in HANDLER_METHODS)


async def test_a_servers_handler_can_be_wrapped() -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        raise NotImplementedError

    assert web.Server(handler).request_handler is handler


def test_what_has_been_sent_of_an_answer_is_counted() -> None:
    assert "output_size" in AbstractStreamWriter.__annotations__
