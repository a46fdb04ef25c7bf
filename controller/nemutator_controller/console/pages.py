"""The page itself: its files, and the link that opens it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter

from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.browsers import is_prefetch
from nemutator_controller.console.gates import OPEN_PATH, Where, cookie_name, signed_out

STATIC = Path(__file__).parent / "static"

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class File:
    body: bytes
    content_type: str

    @property
    def etag(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:32]


def files(folder: Path = STATIC) -> dict[str, File]:
    """Every file of the page by its path, read once: what is not in here cannot be asked for."""
    found = {
        f"/{path.relative_to(folder).as_posix()}": File(path.read_bytes(), TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES
    }
    return {"/": found["/index.html"], **found}


class Pages:
    def __init__(
        self,
        doorkeeper: Doorkeeper,
        where: Where,
        *,
        session_s: float,
        meter: Meter,
    ) -> None:
        self._doorkeeper = doorkeeper
        self._where = where
        self._session_s = session_s
        self._meter = meter
        self._files = files()

    def routes(self) -> list[web.RouteDef]:
        return [web.get(OPEN_PATH, self._open, allow_head=False), *self.files()]

    def files(self) -> list[web.RouteDef]:
        """The page without the way in by a link."""
        return [web.get(path, self._file) for path in self._files]

    async def _file(self, request: web.Request) -> web.Response:
        file = self._files[request.path]
        known = request.if_none_match or ()
        response = web.Response(headers={"Cache-Control": "no-cache"})
        if any(tag.value == file.etag for tag in known):
            response.set_status(304)
        else:
            response.body = file.body
            response.content_type = file.content_type
            response.charset = "utf-8"
        response.etag = file.etag
        return response

    async def _open(self, request: web.Request) -> web.Response:
        if is_prefetch(request.headers):
            return web.Response(status=503, headers={"Cache-Control": "no-store"})
        token = await self._doorkeeper.redeem(request.query.get("key", ""))
        if token is None:
            self._meter.count(names.CONSOLE_REFUSED, reason="key")
            return signed_out(403, "This link was used before, or it is too old.")
        response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
        response.set_cookie(
            cookie_name(self._where()),
            token.reveal(),
            max_age=int(self._session_s),
            httponly=True,
            samesite="Strict",
        )
        return response
