"""The brain over HTTP: by its unix socket on this machine, or by TLS in the cluster."""

import asyncio
import gzip
import io
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import aiohttp
import msgspec

from nemutator_common import names
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.errors import OperatorError
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.shipping.brain_connections import (
    CONNECTIONS,
    CallAttempt,
    attempts_told,
    is_broken,
    kept_connector,
)
from nemutator_common.shipping.destinations import Destination, LocalBrain, parse_destination
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.kept_sessions import KeptSessions
from nemutator_common.shipping.links import BatchRefusedError, LinkUnavailableError
from nemutator_common.shipping.settings import CallsBrain
from nemutator_common.wire_columns import COLUMNS_TYPE, MAGIC

LARGEST_ANSWER = 64 << 10
ANSWER_S = 10.0

_SMALLEST_TO_COMPRESS = 1024
_GZIP_LEVEL = 1
"""Even the first level shrinks reports to a tenth; higher levels cost more than they save."""

_LONGEST_REASON = 200

_REFUSED = {400: "malformed", 413: "too_large", 415: "malformed", 422: "malformed"}
_UNAUTHORISED = (401, 403)
_BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class BrainResponse:
    """A successful response: 200, 202, 204, or 304 where it was asked for."""

    status: int
    body: bytes
    etag: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """Proves to the brain who we are. It is requested at each call, because it is renewed."""

    token: Callable[[], Secret]
    invalidate: Callable[[], None] = lambda: None
    """Called when the brain did not accept the proof."""


class BrainOverHttp:
    """A client to use in `async with`. It holds its connections open; every call has a deadline."""

    def __init__(
        self,
        where: Destination,
        *,
        proof: Proof,
        ca: RereadFile | None = None,
        connector: Callable[[Destination], aiohttp.BaseConnector] = kept_connector,
    ) -> None:
        """*ca* has the authorities that sign the certificate of a brain on another machine."""
        self._where = where
        self._local = isinstance(where, LocalBrain)
        self._base = "http://brain" if self._local else str(where)
        self._proof = proof
        self._ca = ca
        self._connector = connector
        self._tls: tuple[str, ssl.SSLContext] | None = None
        self._sessions: KeptSessions | None = None

    async def __aenter__(self) -> Self:
        self._sessions = KeptSessions(self._session)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._sessions is not None:
            await self._sessions.close()

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=self._connector(self._where),
            trace_configs=[attempts_told()],
            cookie_jar=aiohttp.DummyCookieJar(),
            # The environment's proxies are ignored: nobody belongs between us and the brain.
            trust_env=False,
        )

    async def call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        most_bytes: int = LARGEST_ANSWER,
        deadline_s: float = ANSWER_S,
    ) -> BrainResponse:
        """Return the response when it is a success, else raise a LinkError.

        It may arrive twice: all that the brain is told has a number or a name, and counts once.
        """
        if self._sessions is None:
            raise RuntimeError("used outside of `async with`")
        try:
            async with self._sessions.lend() as session, asyncio.timeout(deadline_s):
                return await self._call(
                    session, method, path, body, dict(headers or {}), most_bytes
                )
        except TimeoutError:
            why = f"{self._where} did not answer within {deadline_s:g} s"
            raise LinkUnavailableError("timeout", why) from None

    async def _call(
        self,
        session: aiohttp.ClientSession,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        most_bytes: int,
    ) -> BrainResponse:
        headers["Authorization"] = f"Bearer {self._token().reveal()}"
        if body is not None:
            columns = body.startswith(MAGIC)
            headers["Content-Type"] = COLUMNS_TYPE if columns else "application/json"
            # On this machine sending a byte costs less than compressing it; snapshots are compressed.
            if not self._local and not columns and len(body) >= _SMALLEST_TO_COMPRESS:
                body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
                headers["Content-Encoding"] = "gzip"
        try:
            for _ in range(CONNECTIONS):
                attempt = CallAttempt()
                try:
                    return await self._ask(
                        session, method, path, body, headers, most_bytes, attempt
                    )
                except (aiohttp.ClientError, OSError) as error:
                    # Whoever closes a connection that was kept does not know of a call on its way.
                    if not (attempt.reused and is_broken(error)):
                        raise
            return await self._ask(session, method, path, body, headers, most_bytes, CallAttempt())
        except (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError) as error:
            if self._ca is not None:
                self._ca.invalidate()
            why = f"{self._where} is not trusted: {_short(error)}"
            raise LinkUnavailableError("untrusted", why) from error
        except (aiohttp.ClientError, OSError) as error:
            why = f"no brain answers at {self._where}: {_short(error)}"
            raise LinkUnavailableError("connection", why) from error

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        most_bytes: int,
        attempt: CallAttempt,
    ) -> BrainResponse:
        async with session.request(
            method,
            self._base + path,
            # aiohttp writes plain bytes in one piece, which blocks the loop when they are many.
            data=io.BytesIO(body) if body else body,
            headers=headers,
            ssl=self._context() or True,
            # A redirect would send our token to somebody else.
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None),
            trace_request_ctx=attempt,
        ) as response:
            if response.status not in (200, 202, 204, 304):
                await self._fail(response)
            return BrainResponse(
                response.status,
                await _body(response, most_bytes),
                response.headers.get("ETag"),
            )

    def _token(self) -> Secret:
        try:
            return self._proof.token()
        except OperatorError as error:
            raise LinkUnavailableError("token", f"no token: {error.what}") from error

    def _context(self) -> ssl.SSLContext | None:
        if self._ca is None:
            return None
        text = self._ca.text()
        if self._tls is None or self._tls[0] != text:
            try:
                self._tls = (text, ssl.create_default_context(cadata=text))
            except (ssl.SSLError, ValueError) as error:
                self._ca.invalidate()
                raise LinkUnavailableError("untrusted", "the CA file has no certificate") from error
        return self._tls[1]

    async def _fail(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        why = f"the brain answers {status}: {await _explanation(response)}"
        if status in _REFUSED:
            raise BatchRefusedError(_REFUSED[status], why)
        if status in _UNAUTHORISED:
            self._proof.invalidate()
            raise LinkUnavailableError("unauthorised", why)
        if status in _BUSY:
            raise LinkUnavailableError("busy", why, retry_after_s=_retry_after_s(response))
        raise LinkUnavailableError("failed", why)


def brain_over_http(settings: CallsBrain, process: Process) -> BrainOverHttp:
    """The brain that *settings* name, or the one that shares our data directory.

    On this machine the link token proves who we are. Elsewhere the service account's token does,
    and the brain's certificate proves who the brain is.
    """
    directory = process.directory
    where = (
        parse_destination(settings.brain)
        if settings.brain
        else LocalBrain(directory.socket(names.BRAIN))
    )
    if isinstance(where, LocalBrain):
        return BrainOverHttp(where, proof=Proof(lambda: read_link_token(directory)))
    token = RereadFile(settings.brain_token_file, process.clock, reason="token")
    ca = RereadFile(settings.brain_ca_file, process.clock, reason="untrusted")
    return BrainOverHttp(where, proof=Proof(lambda: Secret(token.text()), token.invalidate), ca=ca)


def _retry_after_s(response: aiohttp.ClientResponse) -> float:
    """The seconds of Retry-After. A date in it is ignored, because it needs clocks that agree."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0


async def _explanation(response: aiohttp.ClientResponse) -> str:
    try:
        answer = msgspec.json.decode(await _body(response, LARGEST_ANSWER))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "no explanation"
    if not isinstance(answer, dict) or not answer.get("error"):
        return "no explanation"
    # Whoever reads of it reads our log, and not the brain's.
    said = [str(answer[what])[:_LONGEST_REASON] for what in ("error", "remedy") if answer.get(what)]
    return "; ".join(said)


async def _body(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most_bytes:
            raise LinkUnavailableError("invalid", "the brain's answer is too long")
    return bytes(body)


def _short(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)[:_LONGEST_REASON]
    reason = error.os_error.strerror if isinstance(error, aiohttp.ClientConnectorError) else None
    return str(reason or type(error).__name__)[:_LONGEST_REASON]
