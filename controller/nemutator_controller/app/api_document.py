"""`/api/v1/openapi.json`: what the API is, for programs that make clients of it."""

import functools

import msgspec
from aiohttp import web
from nemutator_common import __version__

from nemutator_controller.access.routes import allowed
from nemutator_controller.app.parts import Part

PATH = "/api/v1/openapi.json"


def api_document_part() -> Part:
    return Part(routes=[allowed("get", "topology", web.get(PATH, _show), narrows=True)])


async def _show(_: web.Request) -> web.Response:
    return web.Response(body=_encoded(), content_type="application/json")


@functools.cache
def _encoded() -> bytes:
    # Imported here: few ask for it, and its types are needed by nothing else.
    from nemutator_controller.app.api_paths import PATHS
    from nemutator_controller.console.open_api import open_api

    return msgspec.json.encode(open_api(PATHS, version=__version__))
