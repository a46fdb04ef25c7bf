"""The real `Transport`: HTTPS to the API server, on aiohttp.

Credentials and CA are read for each request, because they rotate; after a refusal (401, or a
certificate that the CA does not cover) they are renewed, and the request is tried once more.
"""

import asyncio
import contextlib
import io
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from types import TracebackType
from typing import Self

import aiohttp
from nemutator_common import names
from nemutator_common.meters import Meter
from yarl import URL

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.failures import (
    KubeError,
    UnauthorizedError,
    UnavailableError,
    UntrustedError,
    from_answer,
)
from nemutator_controller.kube.ports import Configuration

LARGEST_ANSWER = 64 << 20
"""Uncompressed. A page of 500 objects is about 3 MB; twenty times as much is not a page."""

LARGEST_REFUSAL = 64 << 10

CONNECT_S = 10.0
ANSWER_S = 60.0
"""The API server itself gives up on anything but a watch after 60 s."""

BUFFER = 256 << 10
"""Bytes read ahead of a watch: fewer and larger turns of the loop while everything is listed."""


class HttpTransport:
    """Use it as an async context manager, in the event loop that it is made in."""

    def __init__(
        self, configuration: Configuration, meter: Meter, *, connections: int = 32
    ) -> None:
        self._configuration = configuration
        self._meter = meter
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": names.PREFIX},
            read_bufsize=BUFFER,
            trust_env=False,
        )
        self._tls: tuple[Access, ssl.SSLContext | None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def send(self, call: Call) -> bytes:
        timeout = aiohttp.ClientTimeout(total=ANSWER_S, connect=CONNECT_S)
        async with self._answered(call, timeout) as answer:
            return await _bounded(answer, call)

    @contextlib.asynccontextmanager
    async def stream(self, call: Call, *, idle_s: float) -> AsyncIterator[AsyncIterator[bytes]]:
        timeout = aiohttp.ClientTimeout(connect=CONNECT_S, sock_read=idle_s)
        async with (
            self._answered(call, timeout) as answer,
            contextlib.aclosing(_chunks(answer, call, idle_s)) as chunks,
        ):
            yield chunks

    @contextlib.asynccontextmanager
    async def _answered(
        self, call: Call, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A successful answer; everything else is raised as a `KubeError`."""
        try:
            answer = await self._try(call, timeout, renew=False)
        except (UnauthorizedError, UntrustedError):
            answer = await self._try(call, timeout, renew=True)
        async with answer:
            yield answer

    async def _try(
        self, call: Call, timeout: aiohttp.ClientTimeout, *, renew: bool
    ) -> aiohttp.ClientResponse:
        result = "cancelled"
        try:
            access = await self._configuration.access(renew=renew)
            with _explained(call):
                answer = await self._request(call, timeout, access)
                result = str(answer.status)
                if answer.status < 300:
                    return answer
                async with answer:
                    body = await answer.content.read(LARGEST_REFUSAL)
            raise from_answer(
                call.asked, answer.status, body, answer.headers.get("Retry-After", "")
            )
        except KubeError as error:
            if result == "cancelled":
                result = "untrusted" if isinstance(error, UntrustedError) else "unreachable"
            raise
        finally:
            self._meter.count(names.KUBE_REQUESTS, verb=call.verb, result=result)

    async def _request(
        self, call: Call, timeout: aiohttp.ClientTimeout, access: Access
    ) -> aiohttp.ClientResponse:
        headers = {
            "Accept": call.accept,
            "Accept-Encoding": "gzip" if call.compressed else "identity",
        }
        if call.body:
            headers["Content-Type"] = call.content_type
        token = call.token or access.token
        if token is not None:
            headers["Authorization"] = f"Bearer {token.reveal()}"
        return await self._session.request(
            call.method,
            URL(access.server + call.path, encoded=True).with_query(call.query),
            # Bytes would be sent in one piece, which holds up the loop when they are megabytes.
            data=io.BytesIO(call.body) if call.body else None,
            headers=headers,
            timeout=timeout,
            ssl=await self._context(access) or True,
            server_hostname=access.server_name,
            # A redirect would take our token to somebody else.
            allow_redirects=False,
        )

    async def _context(self, access: Access) -> ssl.SSLContext | None:
        """One context for as long as the certificates stay: each costs 80 ms and 0.7 MiB."""
        if not access.server.startswith("https:"):
            return None
        if self._tls is None or _certificates(self._tls[0]) != _certificates(access):
            context = await asyncio.to_thread(_tls_context, access)
            self._tls = (access, context)
        return self._tls[1]


def _certificates(access: Access) -> tuple[object, ...]:
    return (access.ca, access.client_certificate, access.client_key, access.insecure)


def _tls_context(access: Access) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=access.ca)
        if access.client_certificate and access.client_key:
            _load_pair(context, access.client_certificate, access.client_key.reveal())
    except (ssl.SSLError, ValueError, OSError) as error:
        raise UntrustedError(
            f"connect to {access.server}", f"the CA or client certificate is no good: {error}"
        ) from error
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_pair(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """OpenSSL wants files; this one exists in memory only, until it is closed."""
    fd = os.memfd_create("client-certificate", os.MFD_CLOEXEC)
    with os.fdopen(fd, "w") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{fd}")


async def _bounded(answer: aiohttp.ClientResponse, call: Call) -> bytes:
    parts: list[bytes] = []
    size = 0
    async with contextlib.aclosing(_chunks(answer, call, None)) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise UnavailableError(call.asked, f"more than {LARGEST_ANSWER} bytes came")
            parts.append(chunk)
    return b"".join(parts)


async def _chunks(
    answer: aiohttp.ClientResponse, call: Call, idle_s: float | None
) -> AsyncGenerator[bytes, None]:
    with _explained(call, idle_s):
        async for chunk in answer.content.iter_any():
            yield chunk


@contextlib.contextmanager
def _explained(call: Call, idle_s: float | None = None) -> Iterator[None]:
    """Turns aiohttp's many errors into the two that matter to a caller."""
    try:
        yield
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError) as error:
        raise UntrustedError(call.asked, f"the server is not trusted: {error}") from error
    except TimeoutError as error:
        silence = "no answer in time" if idle_s is None else f"no byte for {idle_s:g} s"
        raise UnavailableError(call.asked, silence) from error
    except (aiohttp.ClientError, OSError) as error:
        raise UnavailableError(call.asked, f"{type(error).__name__}: {error}") from error
