"""The native API of secrets, as callers have it on their socket."""

import asyncio
from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.serving.connection import accepted_peer_of
from nemutator_common.serving.responses import RoutineResponse

from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.http_refusals import HttpRefusal, not_attested
from nemutator_agent.credentials.ports import AdmittedCaller, CallerHandler
from nemutator_agent.credentials.responses import (
    JSON,
    SecretResponse,
    as_json,
    shown,
    zero_separated,
)
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Peer

UNCACHED = {"Cache-Control": "no-store"}
_UNCACHED_JSON = {**UNCACHED, "Content-Type": JSON}
LARGE_BYTES = 16 << 10
"""Answers of this size and more wait for their turn: a caller that does not read holds our memory."""

REFUSED_AFTER_S = 0.5
"""How long a caller that asks too often waits at least for the answer that says so; at most twice as
long, so that those who wait do not come together."""

LET_IN_AGAIN = frozenset({400, 404, 429, 503})
"""After any other status the connection ends: a caller that was refused does not need it."""


class HttpApi:
    """Bounds the memory that callers can hold: large answers are on their way as *large* lets them."""

    def __init__(self, handler: CallerHandler, *, large: asyncio.Semaphore) -> None:
        self._handler = handler
        self._large = large

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/whoami", self._whoami, allow_head=False),
            web.get("/v1/declared", self._declared, allow_head=False),
            web.get("/v1/secret/{name}", self._secret, allow_head=False),
            web.get("/v1/env", self._environment, allow_head=False),
        ]

    async def _whoami(self, request: web.Request) -> web.Response:
        return _given(self._caller(request).whoami())

    async def _declared(self, request: web.Request) -> web.Response:
        return _given(self._caller(request).declared())

    async def _secret(self, request: web.Request) -> web.Response:
        caller = self._caller(request)
        raw = request.query.get("raw", "0")
        if raw not in ("0", "1") or request.query.keys() - {"raw"}:
            raise HttpRefusal(
                400,
                "the query is not understood",
                remedy="ask with ?raw=1 or without",
                step="query",
            )
        answer = await caller.secret(request.match_info["name"])

        if len(answer.value.reveal()) < LARGE_BYTES:
            return _shown(answer, raw)
        async with self._large:
            return await sent(request, _shown(answer, raw))

    async def _environment(self, request: web.Request) -> web.Response:
        caller = self._caller(request)
        if request.query_string not in ("", "format=nul"):
            raise HttpRefusal(
                400,
                "the query is not understood",
                remedy="ask with ?format=nul or without",
                step="query",
            )
        # All of it waits for its turn, because an answer that waits would hold all of its values.
        async with self._large:
            variables = await caller.environment()
            return await sent(
                request,
                RoutineResponse(body=zero_separated(variables), headers=UNCACHED)
                if request.query_string
                else _given(_revealed(variables)),
            )

    def _caller(self, request: web.Request) -> AdmittedCaller:
        """Attest anew for each request: the process may have ended, or be in another control group."""
        peer = accepted_peer_of(request)
        assert isinstance(peer, Peer | UnknownPeer)
        return self._handler.admit(peer)


def refusals_as_json(process: Process) -> Middleware:
    @web.middleware
    async def refuse(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except HttpRefusal as refusal:
            await held_back(refusal, process)
            return response_of(refusal)
        except AttestationError as error:
            return response_of(not_attested(error))

    return refuse


async def held_back(refusal: HttpRefusal, process: Process) -> None:
    if refusal.step == "rate":
        # Each of them takes the event loop's time, too: with all of its connections a pod gets no more
        # than some dozens a second.
        await process.clock.sleep(REFUSED_AFTER_S * (1 + process.dice.random()))


def response_of(refusal: HttpRefusal) -> web.Response:
    answer = _json(
        {"error": refusal.error, "remedy": refusal.remedy, "step": refusal.step},
        status=refusal.status,
    )
    if refusal.retry_after_s is not None:
        answer.headers["Retry-After"] = str(refusal.retry_after_s)
    if ends_connection(refusal):
        answer.force_close()
    return answer


def ends_connection(refusal: HttpRefusal) -> bool:
    # What is in doubt about who made a connection stays in doubt.
    return refusal.status not in LET_IN_AGAIN or refusal.step == "start"


async def sent(request: web.Request, answer: web.Response) -> web.Response:
    """Return when *answer* is with the kernel, to its last byte."""
    answer.headers["Server"] = names.PREFIX
    if request.transport is not None:
        # Else the last 64 KiB would count as sent while they wait here for a reader.
        request.transport.set_write_buffer_limits(0)
    await answer.prepare(request)
    await answer.write_eof()
    # aiohttp would keep it until the connection's next answer.
    answer.body = None
    return answer


def _shown(answer: SecretResponse, raw: str) -> web.Response:
    body, content_type, marks = shown(answer, raw=raw == "1")
    return RoutineResponse(body=body, headers={**UNCACHED, "Content-Type": content_type, **marks})


def _revealed(values: Mapping[str, Secret]) -> dict[str, object]:
    return {name: value.reveal() for name, value in values.items()}


def _given(document: Mapping[str, object]) -> RoutineResponse:
    """What a caller gets is a record of the audit and a line of the log already."""
    return RoutineResponse(body=as_json(document), headers=_UNCACHED_JSON)


def _json(document: Mapping[str, object], *, status: int = 200) -> web.Response:
    return web.json_response(document, status=status, headers=UNCACHED)
