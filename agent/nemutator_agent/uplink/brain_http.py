"""The brain over HTTP: a unix socket on this machine, or TCP."""

import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self
from urllib.parse import urlencode

import aiohttp
import msgspec
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret
from nemutator_common.serving.addresses import Address, UnixAddress
from nemutator_common.wire import REPORTS_PATH, Ack

from nemutator_agent.uplink.link import BatchRefusedError, LinkUnavailableError

LARGEST_ANSWER = 64 << 10

_SMALLEST_TO_COMPRESS = 1024
_GZIP_LEVEL = 1
"""Reports shrink to a tenth at the first level already; higher ones cost more than they save."""

_LONGEST_REASON = 200

_REFUSED = {400: "malformed", 413: "too_large", 422: "malformed"}
_UNAUTHORISED = (401, 403)
_BUSY = (429, 503)


class BrainOverHttp:
    """`async with` it: it keeps one connection open. The token is read again for each call, since
    `nemutator up` renews it."""

    def __init__(self, address: Address, *, token: Callable[[], Secret]) -> None:
        self._local = isinstance(address, UnixAddress)
        self._base = "http://brain" if isinstance(address, UnixAddress) else f"http://{address}"
        self._path = str(address.path) if isinstance(address, UnixAddress) else None
        self._address = address
        self._token = token
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector: aiohttp.BaseConnector = (
            aiohttp.UnixConnector(self._path, limit=1)
            if self._path is not None
            else aiohttp.TCPConnector(limit=1)
        )
        # No proxy from the environment: this is between us and the brain.
        self._session = aiohttp.ClientSession(connector=connector, trust_env=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def position(self, *, node: str, epoch: str) -> Ack:
        query = urlencode({"node": node, "epoch": epoch})
        async with self._call("GET", f"{REPORTS_PATH}?{query}", None) as response:
            return await _ack(response)

    async def send(self, batch: bytes) -> Ack:
        async with self._call("POST", REPORTS_PATH, batch) as response:
            return await _ack(response)

    @asynccontextmanager
    async def _call(
        self, method: str, path: str, body: bytes | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("used outside of `async with`")
        headers = {"Authorization": f"Bearer {self._read_token().reveal()}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            # On this machine a byte costs less than the work to save it.
            if not self._local and len(body) >= _SMALLEST_TO_COMPRESS:
                body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
                headers["Content-Encoding"] = "gzip"
        try:
            async with self._session.request(
                method, self._base + path, data=body, headers=headers, allow_redirects=False
            ) as response:
                if response.status != 200:
                    await _fail(response)
                yield response
        except (aiohttp.ClientError, OSError) as error:
            why = f"no brain answers at {self._address}: {_short(error)}"
            raise LinkUnavailableError("connection", why) from error

    def _read_token(self) -> Secret:
        try:
            return self._token()
        except OperatorError as error:
            raise LinkUnavailableError("token", f"no link token: {error.what}") from error


async def _ack(response: aiohttp.ClientResponse) -> Ack:
    try:
        return msgspec.json.decode(await _body(response), type=Ack)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise LinkUnavailableError("nonsense", "the brain's answer is not an Ack") from None


async def _fail(response: aiohttp.ClientResponse) -> None:
    status = response.status
    why = f"the brain answers {status}: {await _explanation(response)}"
    if status in _REFUSED:
        raise BatchRefusedError(_REFUSED[status], why)
    if status in _UNAUTHORISED:
        raise LinkUnavailableError("unauthorised", why)
    if status in _BUSY:
        raise LinkUnavailableError("busy", why, retry_after_s=_retry_after_s(response))
    raise LinkUnavailableError("failed", why)


def _retry_after_s(response: aiohttp.ClientResponse) -> float:
    """Seconds only: the form with a date needs two clocks that agree."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0


async def _explanation(response: aiohttp.ClientResponse) -> str:
    try:
        answer = msgspec.json.decode(await _body(response))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "no explanation"
    said = answer.get("error") if isinstance(answer, dict) else None
    return str(said)[:_LONGEST_REASON] if said else "no explanation"


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise LinkUnavailableError("nonsense", "the brain's answer is too long")
    return bytes(body)


def _short(error: BaseException) -> str:
    reason = error.os_error.strerror if isinstance(error, aiohttp.ClientConnectorError) else None
    return str(reason or type(error).__name__)[:_LONGEST_REASON]
