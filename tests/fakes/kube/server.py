"""The fake API server on the wire: HTTP and TLS on a free port of loopback.

    async with FakeKube() as kube:
        session.get(f"{kube.url}/api/v1/pods", headers={"Authorization": f"Bearer {kube.token}"})

Client and server share a process, so `kube.store` is the truth that a test compares with, and
`kube.controls` disturbs what the client relies on.
"""

import asyncio
import gzip
import json
import ssl
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes.kube.api import Answer, Api, Request
from tests.fakes.kube.authorization import AUTHENTICATED, MASTERS, User
from tests.fakes.kube.certificates import AuthorityFiles
from tests.fakes.kube.encoding import encoded
from tests.fakes.kube.paths import NoSuchPathError
from tests.fakes.kube.statuses import ApiError, request_too_large
from tests.fakes.kube.watching import Watch

COMPRESSED_FROM = 128 * 1024
"""Bytes of an answer from which the real server compresses, when it may."""

LARGEST_BODY = 3 * 1024 * 1024
"""The real one's limit for a request."""


class FakeKube:
    def __init__(self, *, watch_list: bool = True, bookmark_s: float = 60.0) -> None:
        self.api = Api(watch_list=watch_list, bookmark_s=bookmark_s)
        self.store, self.controls = self.api.store, self.api.controls
        self.access, self.webhooks = self.api.access, self.api.webhooks
        self.controls.restarting = self._restart
        self.token = self.access.add_token("admin", MASTERS)
        self.port = 0
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def ca_file(self) -> Path:
        return self.authority.file

    def client_files(self, user: str, *groups: str) -> tuple[Path, Path]:
        """A certificate and its key that prove to be *user*."""
        return self.authority.client_files(user, *groups)

    async def rotate_authority(self) -> None:
        """A new CA in the same file and a new server certificate, as when a control plane renews."""
        self.authority = AuthorityFiles(self._path)
        await self._restart(lose_data=False)

    async def __aenter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="fake-kube-")
        self._path = Path(self._folder.name)
        self.authority = AuthorityFiles(self._path)
        await self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()
        self._folder.cleanup()

    async def _start(self) -> None:
        application = web.Application(client_max_size=LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._serve)
        # A watch whose client has gone must end at once, not at its next event.
        self._runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=1.0, access_log=None
        )
        await self._runner.setup()
        context: ssl.SSLContext = self.authority.server_context()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=context)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        if self._runner is not None:
            self.controls.cut_watches()
            await self._runner.cleanup()
            self._runner = None

    async def _restart(self, lose_data: bool) -> None:
        await self._stop()
        if lose_data:
            self.store.lose_everything()
            self.api.seed()
        await self._start()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.controls.calls.append(f"{request.method} {request.path_qs}")
        if self.controls.latency_s:
            await asyncio.sleep(self.controls.latency_s)
        try:
            answer = await self.api.handle(await _read(request))
            if isinstance(answer, Watch):
                return await self._stream(request, answer)
        except web.HTTPRequestEntityTooLarge:
            too_large = request_too_large(LARGEST_BODY)
            return web.json_response(too_large.status, status=too_large.code)
        except NoSuchPathError:
            return web.Response(status=404, text="404 page not found\n")
        except ApiError as error:
            headers = {"Retry-After": str(error.retry_after_s)} if error.retry_after_s else {}
            return web.json_response(error.status, status=error.code, headers=headers)
        return _response(request, answer)

    async def _stream(self, request: web.Request, watch: Watch) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        self.controls.watches.append(watch)
        try:
            await response.prepare(request)
            async for line in watch.lines():
                await response.write(line)
            if watch.cut and request.transport is not None:
                request.transport.abort()
        except ConnectionResetError:
            pass
        finally:
            self.controls.watches.remove(watch)
            self.store.wake()
        return response


async def _read(request: web.Request) -> Request:
    return Request(
        method=request.method,
        path=request.path,
        query=request.query,
        accept=request.headers.get("Accept", ""),
        # Not aiohttp's `content_type`, which names one where the client named none.
        content_type=request.headers.get("Content-Type", "").partition(";")[0],
        authorization=request.headers.get("Authorization", ""),
        certificate=_certified(request),
        user_agent=request.headers.get("User-Agent", ""),
        body=await request.read(),
    )


def _certified(request: web.Request) -> User | None:
    certificate: Any = request.get_extra_info("peercert")
    if not certificate:
        return None
    subject = [pair for part in certificate["subject"] for pair in part]
    name = next(value for key, value in subject if key == "commonName")
    groups = [value for key, value in subject if key == "organizationName"]
    return User(name, (*groups, AUTHENTICATED))


def _response(request: web.Request, answer: Answer) -> web.Response:
    body = encoded(answer.body)
    response = web.Response(status=answer.status, content_type="application/json")
    for text in answer.warnings:
        response.headers.add("Warning", f"299 - {json.dumps(text)}")
    if len(body) > COMPRESSED_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
        body = gzip.compress(body, compresslevel=1)
        response.headers["Content-Encoding"] = "gzip"
    response.body = body
    return response
