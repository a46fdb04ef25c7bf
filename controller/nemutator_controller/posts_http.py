"""What is posted to systems of others, over HTTP."""

import io
import os
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import aiohttp
from nemutator_common import names
from nemutator_common.secret import MASK, Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.http_accounts import NOBODY, RequestAccount

LONGEST_ANSWER = 16 << 10
LONGEST_WHY = 200
UNAUTHORISED = (401, 403)


class NotTakenError(Exception):
    """Why a body was not taken, for people; nothing in it is secret."""

    def __init__(
        self,
        why: str,
        *,
        status: int | None = None,
        retry_after: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(why)
        self.status = status
        """None: nobody has answered."""
        self.retry_after = retry_after
        """As the header says it."""
        self.headers = headers
        """Of the answer, their names in small letters."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What was answered."""

    headers: Mapping[str, str]
    """Their names in small letters."""
    content: bytes


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    account: RequestAccount = NOBODY,
    ca: RereadFile | None = None,
    certificate: tuple[Path, Path] | None = None,
) -> None:
    """Post *body*; raises `NotTakenError`, in which no secret of *account* stands.

    *ca* is who signs their certificate, where the machine's own authorities do not; *certificate* is ours and
    its key, for those who ask for one. There is no deadline: it is the caller's.
    """
    await _exchange(url, body, headers, account, ca, certificate, longest=None)


async def ask(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    longest: int,
    account: RequestAccount = NOBODY,
    ca: RereadFile | None = None,
    certificate: tuple[Path, Path] | None = None,
) -> bytes:
    """The same, and the body of the answer: as it was sent, and up to *longest* bytes."""
    answer = await _exchange(url, body, headers, account, ca, certificate, longest=longest)
    return answer.content


async def ask_with_headers(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    longest: int,
    account: RequestAccount = NOBODY,
) -> Taken:
    """The same, and what the answer's headers say."""
    return await _exchange(url, body, headers, account, None, None, longest=longest)


async def _exchange(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    account: RequestAccount,
    ca: RereadFile | None,
    certificate: tuple[Path, Path] | None,
    *,
    longest: int | None,
) -> Taken:
    context = _context(ca, certificate)
    try:
        proof = account.proof()
    except LinkUnavailableError as error:
        raise NotTakenError(str(error)) from error
    try:
        async with (
            # A few in a minute: a connection for each costs less than one that is kept for hours, and
            # files that were replaced count from the next one on.
            aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                # What a few compressed bytes become has no bound.
                auto_decompress=False,
            ) as session,
            session.post(
                url,
                data=io.BytesIO(body),
                headers={"User-Agent": names.PREFIX, **headers, **proof.headers},
                ssl=context or True,
                # A redirect would send our secrets to somebody else.
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None),
            ) as response,
        ):
            told = {name.lower(): value for name, value in response.headers.items()}
            if response.status // 100 == 2:
                content = b"" if longest is None else await _whole(url, response, longest)
                return Taken(told, content)
            if response.status in UNAUTHORISED:
                account.was_refused()
            raise NotTakenError(
                f"{url} answers {response.status}: {await _said(response, proof.secrets)}",
                status=response.status,
                retry_after=response.headers.get("Retry-After", ""),
                headers=told,
            )
    except (aiohttp.ClientError, OSError) as error:
        if ca is not None:
            ca.invalidate()
        raise NotTakenError(f"{url} does not answer: {_short(error)}") from None


def _short(error: Exception) -> str:
    """What was met on the way; of other errors the text may have the headers that were sent."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)[:LONGEST_WHY]
    if isinstance(error, aiohttp.ClientConnectorError):
        # asyncio's own text has the address in its place; a failure to find one has a negative number.
        number, text = error.os_error.errno or 0, error.os_error.strerror
        return (os.strerror(number) if number > 0 else text or type(error).__name__)[:LONGEST_WHY]
    return type(error).__name__


async def _whole(url: str, response: aiohttp.ClientResponse, longest: int) -> bytes:
    found = bytearray()
    async for some in response.content.iter_any():
        found += some
        if len(found) > longest:
            what = f"{url} answers more than {longest} bytes"
            raise NotTakenError(what, status=response.status)
    return bytes(found)


async def _said(response: aiohttp.ClientResponse, secrets: Iterable[Secret]) -> str:
    answer = (await response.content.read(LONGEST_ANSWER)).decode(errors="replace")
    for secret in secrets:
        if secret.reveal():
            answer = answer.replace(secret.reveal(), MASK)
    return "".join(one if one.isprintable() else " " for one in answer[:LONGEST_WHY]).strip()


def _context(ca: RereadFile | None, certificate: tuple[Path, Path] | None) -> ssl.SSLContext | None:
    if ca is None and certificate is None:
        return None
    try:
        context = ssl.create_default_context(cadata=None if ca is None else ca.text())
        if certificate is not None:
            context.load_cert_chain(*certificate)
    except LinkUnavailableError as error:
        raise NotTakenError(str(error)) from error
    except (ssl.SSLError, ValueError, OSError) as error:
        if ca is not None:
            ca.invalidate()
        raise NotTakenError("a file of certificates cannot be read") from error
    return context
