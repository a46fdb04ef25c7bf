"""Vault's HTTP API on the socket of a pod, in front of the native one."""

import asyncio
import contextlib

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from nemutator_common.process import Process
from nemutator_common.serving.connection import accepted_peer_of

from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.http_api import (
    LARGE_BYTES,
    UNCACHED,
    ends_connection,
    held_back,
    sent,
)
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.ports import PodCallerHandler
from nemutator_agent.credentials.vault_api.api_answer import ApiAnswer, Turn, refusal_answer
from nemutator_agent.credentials.vault_api.api_request import (
    LARGEST_BODY,
    SentRequest,
    is_for_vault,
)
from nemutator_agent.identity.peers import Peer

NATIVE_BODY = 1 << 10
"""Bytes that a request of the native API may have behind its head, where none are needed."""


def vault_first(
    callers: PodCallerHandler, process: Process, *, large: asyncio.Semaphore
) -> Middleware:
    """Answers clients of Vault, and leaves all other callers to the routes."""

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_for_vault(request.headers):
            if (request.content_length or 0) > NATIVE_BODY:
                raise web.HTTPRequestEntityTooLarge(NATIVE_BODY)
            return await handler(request)
        has_turn = False
        async with contextlib.AsyncExitStack() as turn:

            async def wait_for_turn() -> None:
                nonlocal has_turn
                await turn.enter_async_context(large)
                has_turn = True

            try:
                answer = await _answered(request, callers, wait_for_turn)
            except HttpRefusal as refusal:
                await held_back(refusal, process)
                response = _response(refusal_answer(refusal))
                if ends_connection(refusal):
                    response.force_close()
                return response
            if answer.size < LARGE_BYTES:
                return _response(answer)
            if not has_turn:
                await wait_for_turn()
            return await sent(request, _response(answer))

    return answer


async def _answered(request: web.Request, callers: PodCallerHandler, turn: Turn) -> ApiAnswer:
    peer = accepted_peer_of(request)
    assert isinstance(peer, Peer | UnknownPeer)
    # Before the body is read: it is nothing to those who are not let in.
    caller = callers.admit(peer)
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise HttpRefusal(
            413,
            "the body is too large",
            remedy=f"send {LARGEST_BODY >> 10} KiB at most",
            step="body",
        ) from None
    query = tuple(request.query.items())
    return await caller.ask_vault(
        SentRequest(
            method=request.method,
            target=request.raw_path,
            headers=request.headers,
            query=query,
            body=body,
        ),
        turn,
    )


def _response(answer: ApiAnswer) -> web.Response:
    headers = dict(UNCACHED)
    if answer.retry_after_s is not None:
        headers["Retry-After"] = str(answer.retry_after_s)
    # Half a character, which a pod may write into its own secret, is an escape of JSON then.
    body = answer.body().reveal().encode("utf-8", "backslashreplace")
    if not body:
        return web.Response(status=answer.status, headers=headers)
    return web.Response(
        status=answer.status, body=body, content_type="application/json", headers=headers
    )
