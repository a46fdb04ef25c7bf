"""The files of the page."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

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
    """Every file of the page by its path. They are read once, and no other can be requested."""
    found = {
        f"/{path.relative_to(folder).as_posix()}": File(path.read_bytes(), TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES
    }
    return {"/": found["/index.html"], **found}


class Pages:
    def __init__(self) -> None:
        self._files = files()

    def routes(self) -> list[web.RouteDef]:
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
